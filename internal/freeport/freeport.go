// Package freeport finds addresses for test servers that are killed and started
// again where they were.
//
// A port that the kernel chose (":0") comes from the range it also takes the
// sources of outgoing connections from. While such a server is down, any
// connection of any process may take its port, and the server cannot come back.
// The ports here are below that range: only another listener that was told to use
// one could take it.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
)

// first is the lowest port given out: below it are the services' own.
const first = 10_000

var (
	mu    sync.Mutex
	given = make(map[int]bool) // by this process
)

// Address returns host:port on loopback that nobody listens at, over TCP or UDP,
// and that this process was not given before.
func Address(t testing.TB) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	end := ephemeral(t)
	for range 1_000 {
		port := first + rand.IntN(end-first)
		if given[port] || !free(t, port) {
			continue
		}
		given[port] = true
		return address(port)
	}
	t.Fatalf("no free port from %d to %d", first, end-1)
	return ""
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func free(t testing.TB, port int) bool {
	tcp, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address(port))
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", address(port))
	if err != nil {
		return false
	}
	return udp.Close() == nil
}

// ephemeral returns the first port that the kernel gives to outgoing connections.
func ephemeral(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low, high int
	if err == nil {
		_, err = fmt.Sscan(string(text), &low, &high)
	}
	if err != nil {
		t.Fatalf("range of outgoing ports: %v", err)
	}
	if low <= first {
		t.Skipf("outgoing connections take ports from %d on: no room below for a server that is to come back", low)
	}
	return low
}
