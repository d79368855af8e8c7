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
	Address string // an IPv4 address, that the other hosts reach

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

// Cut pulls its cable.
func (h *Host) Cut(ctx context.Context) error {
	return h.hub.ip(ctx, "link set "+h.port+" down")
}

// Heal plugs it in again. Nothing remembers that the other side could not be found: as
// if both had tried a moment ago.
func (h *Host) Heal(ctx context.Context) error {
	return h.hub.ip(ctx, "link set "+h.port+" up")
}

// Mute has nothing that it sends to another host arrive; what is sent to it does.
func (h *Host) Mute(ctx context.Context, to *Host) error {
	return h.space.ip(ctx, "route replace blackhole "+to.Address+"/32")
}

// Unmute ends that.
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

// Dial connects from it to an address without a name.
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

// Processes returns who runs on it.
func (h *Host) Processes() ([]int, error) {
	names, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return nil, err
	}
	var all []int
	for _, name := range names {
		if id, err := os.Readlink(name); err != nil || id != h.space.id {
			continue // it has ended, or lives elsewhere
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

// ErrAlive is returned when processes of a host have not ended although they were killed.
var ErrAlive = errors.New("processes that were killed are still there")

// Off kills all that runs on it, and returns when nothing does any more. Whoever has
// started some of that still has to wait for it. A host that is off is on again as soon
// as something is started on it.
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
		for _, pid := range pids { // those that they start meanwhile next time
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
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
