// Package freeport finds addresses for test servers that are killed and restarted at the same
// address.
//
// A port that the kernel chooses (":0") comes from the range that it also uses for outgoing
// connections. While such a server is down, a connection of any process can take its port,
// and the server cannot restart. The ports of this package are below that range: only another
// listener that asks for one can take it.
package freeport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
)

// first is the lowest port used: lower ones belong to well-known services.
const first = 10_000

var (
	mu    sync.Mutex
	given = make(map[int]bool) // by this process
)

// Address returns a loopback host:port on which no process listens, over TCP or UDP, and that
// this process has not been given before.
func Address(t Test) string {
	t.Helper()
	a, err := Find(t.Context())
	if errors.Is(err, ErrNoRoom) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Test is the part of testing.TB that Address needs, so that programs with benchmarks do not
// link package testing.
type Test interface {
	Helper()
	Context() context.Context
	Skip(...any)
	Fatal(...any)
}

// ErrNoRoom means that the ephemeral range covers all ports of this host.
var ErrNoRoom = errors.New("the ephemeral port range covers all ports: none is left for a server that restarts")

// Find is Address without a test.
func Find(ctx context.Context) (string, error) {
	mu.Lock()
	defer mu.Unlock()
	end, err := ephemeral()
	if err != nil {
		return "", err
	}
	for range 1_000 {
		port := first + rand.IntN(end-first)
		if given[port] || !free(ctx, port) {
			continue
		}
		given[port] = true
		return address(port), nil
	}
	return "", fmt.Errorf("no free port from %d to %d", first, end-1)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func free(ctx context.Context, port int) bool {
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", address(port))
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := new(net.ListenConfig).ListenPacket(ctx, "udp", address(port))
	if err != nil {
		return false
	}
	return udp.Close() == nil
}

// ephemeral returns the first port of the kernel's ephemeral range.
func ephemeral() (int, error) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low, high int
	if err == nil {
		_, err = fmt.Sscan(string(text), &low, &high)
	}
	if err != nil {
		return 0, fmt.Errorf("range of outgoing ports: %w", err)
	}
	if low <= first {
		return 0, fmt.Errorf("%w: they begin at %d", ErrNoRoom, low)
	}
	return low, nil
}
