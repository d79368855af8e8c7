package freeport

import (
	"net"
	"strconv"
	"testing"
)

func TestAddressesAreDistinctFreeAndNotOfOutgoingConnections(t *testing.T) {
	end, err := ephemeral()
	if err != nil {
		t.Skip(err)
	}
	seen := make(map[string]bool)
	for range 50 {
		a := Address(t)
		if seen[a] {
			t.Fatalf("%s twice", a)
		}
		seen[a] = true
		_, text, err := net.SplitHostPort(a)
		if err != nil {
			t.Fatal(err)
		}
		if port, _ := strconv.Atoi(text); port < first || port >= end {
			t.Errorf("port %d is not in %d..%d", port, first, end-1)
		}
	}
}

func TestAPortInUseIsNotFree(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		a := Address(t)
		_, text, _ := net.SplitHostPort(a)
		port, _ := strconv.Atoi(text)
		var err error
		if network == "tcp" {
			l, e := new(net.ListenConfig).Listen(t.Context(), network, a)
			if err = e; err == nil {
				defer l.Close()
			}
		} else {
			l, e := new(net.ListenConfig).ListenPacket(t.Context(), network, a)
			if err = e; err == nil {
				defer l.Close()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if free(t.Context(), port) {
			t.Errorf("%s has a listener over %s and is said to be free", a, network)
		}
	}
}
