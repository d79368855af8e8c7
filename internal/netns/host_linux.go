package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Host is a network namespace with one address.
type Host struct {
	Name    string
	Address string // an IPv4 address that the other hosts reach

	space *space
	hub   *space
	port  string // of the switch
}

// ID is what /proc/self/ns/net of its processes links to.
func (h *Host) ID() string { return h.space.id }

// plug connects it to the switch.
func (h *Host) plug(ctx context.Context) error {
	if err := h.space.ip(ctx,
		"link set lo up",
		"link add eth0 type veth peer name "+h.port+" netns "+h.hub.path,
		"addr add "+h.Address+"/16 dev eth0",
		"link set eth0 up"); err != nil {
		return fmt.Errorf("host %s: %w", h.Name, err)
	}
	if err := h.hub.ip(ctx, "link set "+h.port+" master hub", "link set "+h.port+" up"); err != nil {
		return fmt.Errorf("host %s: %w", h.Name, err)
	}
	return nil
}

// Cut disconnects it from the switch.
func (h *Host) Cut(ctx context.Context) error {
	return h.hub.ip(ctx, "link set "+h.port+" down")
}

// Heal reconnects it. It clears failed neighbor lookups, as if both sides had communicated a
// moment ago.
func (h *Host) Heal(ctx context.Context) error {
	return h.hub.ip(ctx, "link set "+h.port+" up")
}

// Mute drops everything that it sends to other hosts; it still receives.
func (h *Host) Mute(ctx context.Context, to *Host) error {
	return h.space.ip(ctx, "route replace blackhole "+to.Address+"/32")
}

// Unmute is the reverse of Mute.
func (h *Host) Unmute(ctx context.Context, to *Host) error {
	return h.space.ip(ctx, "route del blackhole "+to.Address+"/32")
}

// Start starts a command on it. The process dies when this one does.
func (h *Host) Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	var err error
	h.space.do(func() { err = cmd.Start() })
	return err
}

// Dial connects from it to an IP address.
func (h *Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	var err error
	h.space.do(func() { conn, err = new(net.Dialer).DialContext(ctx, network, address) })
	return conn, err
}

// Listen listens on it, at its own address.
func (h *Host) Listen(ctx context.Context, network, port string) (net.Listener, error) {
	var l net.Listener
	var err error
	h.space.do(func() { l, err = new(net.ListenConfig).Listen(ctx, network, net.JoinHostPort(h.Address, port)) })
	return l, err
}

// Processes returns the processes that run on it.
func (h *Host) Processes() ([]int, error) {
	names, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return nil, err
	}
	var all []int
	for _, name := range names {
		if id, err := os.Readlink(name); err != nil || id != h.space.id {
			continue // it has ended, or runs elsewhere
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(name))))
		if err != nil {
			return nil, err
		}
		if pid != os.Getpid() {
			all = append(all, pid)
		}
	}
	return all, nil
}

// ErrAlive is returned when processes of a host have not ended after SIGKILL.
var ErrAlive = errors.New("processes survive SIGKILL")

// Off kills all processes on it, and returns when none is left. Their parents still have to
// reap them. Starting a process turns the host on again.
func (h *Host) Off(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		pids, err := h.Processes()
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids { // those that they start meanwhile are killed in the next round
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("host %s: %w: %v", h.Name, ErrAlive, pids)
		}
	}
}

func (h *Host) remove(t Test) {
	if err := h.Off(context.Background()); err != nil {
		t.Errorf("%v", err)
	}
	h.space.close()
}
