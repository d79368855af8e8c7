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
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
)

// first is the lowest port given out: below it are the services' own.
const first = 10_000

var (
	mu    sync.Mutex
	given = make(map[int]bool) // by this process
)

// Address returns host:port on loopback that nobody listens at, over TCP or UDP,
// and that this process was not given before.
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

// Test is the part of testing.TB that Address needs, so that programs with
// benchmarks in them are not linked with package testing.
type Test interface {
	Helper()
	Context() context.Context
	Skip(...any)
	Fatal(...any)
}

// ErrNoRoom says that outgoing connections may have any port of this host.
var ErrNoRoom = errors.New("outgoing connections take all ports: no room below theirs for a server that is to come back")

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

// ephemeral returns the first port that the kernel gives to outgoing connections.
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
