package pool

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// host is an in-memory node that enforces its lease.
type host struct {
	name string

	mu       sync.Mutex
	cut      bool // no messages arrive
	deaf     bool // its answers are lost
	token    time.Time
	until    time.Time
	timer    *time.Timer
	immortal bool // it does not enforce its lease
	unfit    bool // it cannot start tasks
	refuses  map[int32]error
	procs    map[ID]*proc
	barred   map[ID]bool
	launched chan *proc
	sets     [][]Shares
}

func newHost(name string) *host {
	return &host{
		name: name, procs: map[ID]*proc{}, barred: map[ID]bool{}, refuses: map[int32]error{},
		launched: make(chan *proc, 1024),
	}
}

var errCut = errors.New("connection cut")

// through waits until a message arrives: at once, or never.
func (h *host) through(ctx context.Context) error {
	h.mu.Lock()
	cut := h.cut
	h.mu.Unlock()
	if cut {
		<-ctx.Done()
		return errCut
	}
	return ctx.Err()
}

func (h *host) cutOff(cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = cut
}

func (h *host) Renew(ctx context.Context, lease time.Duration) error {
	if err := h.through(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	deaf := h.deaf
	now := time.Now()
	h.until = now.Add(lease)
	if !deaf {
		h.token = now
	} else if h.token.Add(lease).Before(h.until) {
		h.until = h.token.Add(lease) // a token that was never answered proves nothing
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer = time.AfterFunc(h.until.Sub(now), h.lapse)
	unfit := h.unfit
	h.mu.Unlock()
	switch {
	case deaf:
		<-ctx.Done()
		return errCut
	case unfit:
		return &UnfitError{"no space"}
	}
	return nil
}

// lapse kills all processes after the lease has ended.
func (h *host) lapse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.immortal || time.Now().Before(h.until) {
		return
	}
	for _, p := range h.procs {
		p.finish(exec.Exit{Lost: true, Reason: "the lease has ended"})
	}
}

func (h *host) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	p := &proc{host: h, task: t, over: make(chan struct{}), detached: make(chan struct{})}
	if err := h.through(ctx); err != nil {
		return p, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.refuses[t.ID.Rank] != nil:
		return nil, h.refuses[t.ID.Rank]
	case h.barred[t.ID] || !time.Now().Before(h.until):
		return nil, exec.ErrNeverRan
	}
	h.procs[t.ID] = p
	h.launched <- p
	return p, nil
}

func (h *host) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	if err := h.through(ctx); err != nil {
		return attempt.Status{}, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.procs[id]
	switch {
	case p == nil && h.barred[id]:
		return attempt.Status{Condition: attempt.Barred}, nil, nil
	case p == nil:
		return attempt.Status{Condition: attempt.Unclaimed}, nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		return attempt.Status{Condition: attempt.Running, Started: time.Unix(1000, 0)},
			&again{proc: p, detached: make(chan struct{})}, nil
	}
	st := attempt.Status{Condition: attempt.Exited, Code: p.exit.Code, Ended: p.ended}
	if p.exit.Signal != 0 {
		st = attempt.Status{Condition: attempt.Signaled, Signal: p.exit.Signal, Ended: p.ended}
	}
	if p.exit.Lost {
		st = attempt.Status{Condition: attempt.Lost, Reason: p.exit.Reason, Ended: p.ended}
	}
	return st, nil, nil
}

func (h *host) Bar(ctx context.Context, id ID) (bool, error) {
	if err := h.through(ctx); err != nil {
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.procs[id] != nil {
		return false, nil
	}
	h.barred[id] = true
	return true, nil
}

func (h *host) SetShares(ctx context.Context, all []Shares) error {
	if err := h.through(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sets = append(h.sets, slices.Clone(all))
	return nil
}

func (h *host) shares() [][]Shares {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sets
}

// running returns the number of live processes.
func (h *host) running() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.procs {
		p.mu.Lock()
		if !p.gone {
			n++
		}
		p.mu.Unlock()
	}
	return n
}

// proc is a process on a host that ends on a message of the test or on SIGKILL.
type proc struct {
	host     *host
	task     TaskSpec
	over     chan struct{}
	detached chan struct{}
	once     sync.Once

	mu    sync.Mutex
	gone  bool
	exit  exec.Exit
	ended time.Time
	got   []syscall.Signal
	keeps bool // stores signals while its host is unreachable
}

func (p *proc) finish(exit exec.Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		p.gone, p.exit, p.ended = true, exit, time.Now()
		close(p.over)
	}
}

func (p *proc) Signal(sig syscall.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := p.host.through(ctx); err != nil && p.keeps {
		return nil
	} else if err != nil {
		return err
	}
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return os.ErrProcessDone
	}
	p.got = append(p.got, sig)
	p.mu.Unlock()
	if sig == syscall.SIGKILL {
		p.finish(exec.Exit{Signal: sig})
	}
	return nil
}

func (p *proc) signals() []syscall.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

// Wait returns the end that the host reports.
func (p *proc) Wait() exec.Exit { return p.wait(p.detached) }

func (p *proc) wait(detached <-chan struct{}) exec.Exit {
	select {
	case <-p.over:
	case <-detached:
		return exec.Exit{Detached: true}
	}
	for {
		p.host.mu.Lock()
		cut := p.host.cut
		p.host.mu.Unlock()
		if !cut {
			return p.exit
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-detached:
			return exec.Exit{Detached: true}
		}
	}
}

func (p *proc) Detach() { p.once.Do(func() { close(p.detached) }) }

// again is a process after an Attach.
type again struct {
	*proc
	detached chan struct{}
	once     sync.Once
}

func (a *again) Wait() exec.Exit { return a.wait(a.detached) }
func (a *again) Detach()         { a.once.Do(func() { close(a.detached) }) }

// news is a call of the follower.
type news struct {
	mu  sync.Mutex
	all []string
}

func (n *news) changed(node int32, up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	what := map[bool]string{true: "up", false: "down"}[up]
	n.all = append(n.all, string('0'+node)+" "+what)
}

func (n *news) reported() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// open makes a pool over hosts, closed with the test, and waits until all are up.
func open(t testing.TB, hosts ...*host) *Pool {
	t.Helper()
	var cfg Config
	for _, h := range hosts {
		cfg.Names = append(cfg.Names, h.name)
		cfg.Nodes = append(cfg.Nodes, h)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		for _, h := range hosts {
			h.mu.Lock()
			if h.timer != nil {
				h.timer.Stop()
			}
			h.mu.Unlock()
		}
	})
	synctest.Wait()
	return p
}

func key(name string) batch.Key { return batch.Key{Job: batch.JobID(name), Epoch: 1, Attempt: 1} }

// on returns an allocation of a number of processors of a node.
func on(node, processors int32) batch.NodeAllocation {
	return batch.NodeAllocation{Node: node, Processors: processors, Share: batch.One}
}

func spec(name string, how batch.Launch, allocation ...batch.NodeAllocation) exec.Spec {
	s := exec.Spec{Key: key(name), Launch: how, Allocation: allocation, Args: []string{"x"}, Env: []string{"A=1"}}
	s.Shape = batch.Shape{Width: processors(allocation), Walltime: batch.Hour}
	return s
}

// launch launches an attempt and returns the processes of its members by rank.
func launch(t testing.TB, p *Pool, s exec.Spec, hosts ...*host) (exec.Launched, []*proc) {
	t.Helper()
	got, err := p.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	var all []*proc
	for _, h := range hosts {
		for len(h.launched) > 0 {
			all = append(all, <-h.launched)
		}
	}
	slices.SortFunc(all, func(a, b *proc) int { return int(a.task.ID.Rank - b.task.ID.Rank) })
	return got, all
}

// after sleeps in virtual time.
func after(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}

// ending returns the end of a process; false if it runs.
func ending(p exec.Launched) (exec.Exit, bool) {
	select {
	case <-p.(*Attempt).done:
		return p.Wait(), true
	default:
		return exec.Exit{}, false
	}
}

func finish(p exec.Launched, exit exec.Exit) { p.(*proc).finish(exit) }
