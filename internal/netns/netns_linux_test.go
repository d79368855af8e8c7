package netns

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers on a host.
func echo(t *testing.T, h *Host) string {
	t.Helper()
	l, err := h.Listen(t.Context(), "tcp", "0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c) // until the other side closes it
				_ = c.Close()
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-over
	})
	return l.Addr().String()
}

// talk sends a byte, and gets it back in time or not.
func talk(c net.Conn, within time.Duration) error {
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	if _, err := c.Write([]byte{1}); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

func TestHostsReachEachOtherUnlessCutOff(t *testing.T) {
	hosts := New(t, "front", "a1", "a2")
	front, a1, a2 := hosts[0], hosts[1], hosts[2]
	to := map[*Host]net.Conn{}
	for _, h := range hosts[1:] {
		c, err := front.Dial(t.Context(), "tcp", echo(t, h))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		to[h] = c
		if err := talk(c, 10*time.Second); err != nil {
			t.Fatal(h.Name, err)
		}
	}
	for name, gap := range map[string]struct{ begin, end func(context.Context) error }{
		"cut": {a1.Cut, a1.Heal},
		"mute": {func(ctx context.Context) error {
			return a1.Mute(ctx, front)
		}, func(ctx context.Context) error { return a1.Unmute(ctx, front) }},
	} {
		if err := gap.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := talk(to[a1], 300*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if err := talk(to[a2], 10*time.Second); err != nil {
			t.Errorf("the other one, %s: %v", name, err)
		}
		if err := gap.end(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := to[a1].SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(to[a1], make([]byte, 1)); err != nil { // the byte of above
			t.Errorf("after %s: %v", name, err)
		}
	}
	addresses := map[string]bool{}
	for _, h := range hosts {
		addresses[h.Address] = true
		addresses[h.ID()] = true
	}
	if len(addresses) != 6 {
		t.Error(addresses)
	}
}

func TestAHostThatIsTurnedOffLosesOnlyItsOwnProcesses(t *testing.T) {
	hosts := New(t, "a1", "a2")
	var all []*exec.Cmd
	for _, h := range hosts {
		cmd := exec.CommandContext(t.Context(), "sh", "-c",
			"setsid sleep 600 & readlink /proc/self/ns/net; exec sleep 600")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Start(cmd); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 100)
		n, err := out.Read(line)
		if strings.TrimSpace(string(line[:n])) != h.ID() {
			t.Errorf("it runs in %q, %v", line[:n], err)
		}
		all = append(all, cmd)
	}
	over := make(chan error)
	go func() { over <- all[0].Wait() }()
	if err := hosts[0].Off(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-over; err == nil || all[0].ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Error(err)
	}
	if pids, err := hosts[0].Processes(); err != nil || len(pids) > 0 {
		t.Error(pids, err)
	}
	if pids, err := hosts[1].Processes(); err != nil || len(pids) < 2 {
		t.Error(pids, err)
	}
	go func() { over <- all[1].Wait() }()
	if err := hosts[1].Off(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-over; err == nil {
		t.Error("it has ended by itself")
	}
}
