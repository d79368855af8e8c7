package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
)

// ID names one process of an attempt.
type ID struct {
	Key  batch.Key
	Rank int32 // from 0
}

// TaskSpec is one process of an attempt, for one node.
type TaskSpec struct {
	ID ID
	// Spec is what to run. Its Allocation is that of this process, all on this node;
	// Processors times Share is its limit of processors there, and Processors times memory its
	// limit of memory.
	Spec exec.Spec
}

// Shares are the new limits of a running process.
type Shares struct {
	ID         ID
	Allocation []batch.NodeAllocation // as in TaskSpec
}

// Node is one node of the site, as a pool uses it. Its methods may be called from several
// goroutines, and return when ctx ends.
//
// The processes of a node live on a lease. A launch that was sent under a lease that has
// ended does not take effect under a later one.
type Node interface {
	// Renew renews the lease, and proves that the node answers. When it has returned without
	// an error, the effect of this and all earlier calls, including unanswered ones, is at
	// most that processes live until the lease is over, counted from the return; see
	// Config.Lease. An *UnfitError is a success too, but nothing can be launched.
	Renew(ctx context.Context, lease time.Duration) error
	// Launch runs a process at most once, however often it is called. Errors are those of
	// exec.Launcher: the process does not run and never will, with exec.ErrNodeGone if nothing
	// was sent, and with exec.ErrNeverRan if something was. If the outcome is unknown, because
	// the node did not answer or ctx has ended, Launch returns an exec.Launched.
	Launch(ctx context.Context, t TaskSpec) (exec.Launched, error)
	// Attach returns what became of a process, and the process if it runs. After an error that
	// is unknown.
	Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error)
	// Bar claims a process that is not claimed yet, so that it never runs. won means that it
	// has never run and never will. After an error that is unknown.
	Bar(ctx context.Context, id ID) (won bool, err error)
	// SetShares sets the shares of several processes, except those that have ended. Of two
	// calls the later one counts, in whatever order the network delivers them.
	SetShares(ctx context.Context, all []Shares) error
}

// The exec.Launched of a node (also an exec.Detacher) outlives the connection: Wait returns
// when the node has reported the end, even if it was out of reach in between, or when it is
// detached. Its Signal may take a network round trip, and has no effect if it arrives after a
// later one.

// UnfitError means that a node answers and its tasks continue, but that no task can be
// launched.
type UnfitError struct{ Why string }

func (e *UnfitError) Error() string { return "it can start nothing: " + e.Why }

// peer is the state of a node in a pool.
type peer struct {
	pool    *Pool
	name    string
	node    Node
	indices []int32
	began   time.Time
	wake    chan struct{} // for keep; holds one
	unsent  chan struct{} // for sendShares; holds one

	telling sync.Mutex // one call of the follower at a time; before mu

	mu        sync.Mutex
	up        bool
	unfit     bool          // it answers, but no task can be launched
	why       string        // why it is down, as last logged; "" if it is up, or was not queried yet
	reported  bool          // last state reported to the follower; up at first
	asked     bool          // a renewal has been tried
	over      time.Time     // when its lease is over without further renewal
	lapsed    bool          // the lease is over, and the members were given up
	turned    chan struct{} // closed and replaced when one of the above changes
	members   map[ID]*member
	abandoned []ID          // members that were given up since the last answer of the node
	shares    map[ID]Shares // to be sent
}

func newPeer(p *Pool, name string, node Node) *peer {
	now := time.Now()
	return &peer{
		pool: p, name: name, node: node, began: now, wake: make(chan struct{}, 1), unsent: make(chan struct{}, 1),
		// An earlier server may have renewed it until now.
		reported: true, over: now.Add(p.cfg.Lease + p.cfg.Margin), turned: make(chan struct{}),
		members: make(map[ID]*member), shares: make(map[ID]Shares),
	}
}

// isUp reports whether tasks can be launched, which is what the follower receives. The
// caller holds mu.
func (e *peer) isUp() bool { return e.up && !e.unfit }

// kick makes keep run at once.
func (e *peer) kick() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// turn wakes those who wait for a change. The caller holds mu.
func (e *peer) turn() {
	close(e.turned)
	e.turned = make(chan struct{})
}

// until waits until cond, which is called with mu held, returns true; false if ctx has ended
// or the pool is closed.
func (e *peer) until(ctx context.Context, cond func() bool) bool {
	for {
		e.mu.Lock()
		ok, turned := cond(), e.turned
		e.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return false
		case <-e.pool.ctx.Done():
			return false
		}
	}
}

// enter registers a member; false if the node is down.
func (e *peer) enter(m *member, anyway bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.isUp() && !anyway {
		return false
	}
	e.members[m.id] = m
	return true
}

// leave removes a member that has ended.
func (e *peer) leave(m *member) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.members[m.id] == m {
		delete(e.members, m.id)
		delete(e.shares, m.id)
	}
}

// list returns the members, in order.
func (e *peer) list() []*member {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]*member, 0, len(e.members))
	for _, m := range e.members {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *member) int { return compare(a.id, b.id) })
	return all
}

func compare(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Key.Job, b.Key.Job), cmp.Compare(a.Key.Epoch, b.Key.Epoch),
		cmp.Compare(a.Key.Attempt, b.Key.Attempt), cmp.Compare(a.Rank, b.Rank))
}

// Local makes a Node of this host and all its virtual nodes. It is always up, and its tasks
// need no lease. Worth is that of Remote. Pins are the processors that each virtual node
// owns, by its index in the platform; without pins tasks run on any.
func Local(h *node.Host, worth cgroup.CPU, pins [][]int) Node {
	if worth == 0 {
		worth = cgroup.Processor
	}
	return &near{h, worth, pins}
}

type near struct {
	host  *node.Host
	worth cgroup.CPU
	pins  [][]int
}

// cpus returns the processors of those virtual nodes; none means any.
func (n *near) cpus(allocation []batch.NodeAllocation) (all []int) {
	for _, l := range allocation {
		if l.Node < 0 || int(l.Node) >= len(n.pins) || len(n.pins[l.Node]) == 0 {
			return nil
		}
		all = append(all, n.pins[l.Node]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Renew implements Node.
func (n *near) Renew(context.Context, time.Duration) error { return nil }

// Launch implements Node.
func (n *near) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	task := taskOf(&t, n.worth)
	task.CPUs = n.cpus(t.Spec.Allocation)
	p, err := n.host.Launch(ctx, task)
	if err != nil {
		return nil, err // not a nil *node.Task
	}
	return p, nil
}

// Attach implements Node.
func (n *near) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	st, p, err := n.host.Attach(ctx, node.ID(id))
	if err != nil || p == nil {
		return st, nil, err // not a nil *node.Task
	}
	return st, p, nil
}

// Bar implements Node.
func (n *near) Bar(_ context.Context, id ID) (bool, error) { return n.host.Bar(node.ID(id)) }

// SetShares implements Node.
func (n *near) SetShares(_ context.Context, all []Shares) error {
	var errs []error
	for _, s := range all {
		p := n.host.Find(node.ID(s.ID))
		if p == nil {
			continue
		}
		_, err := p.Share(amount(s.Allocation, n.worth))
		if err == nil && len(n.pins) > 0 {
			err = p.SetCPUs(n.cpus(s.Allocation))
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, fmt.Errorf("task %s: %w", p.ID(), err))
		}
	}
	return errors.Join(errs...)
}

// Remote makes a Node that is reached through its daemon. Worth is the fraction of a host's
// processor that one of the platform's processors is; 0 means all of it. It is less than one
// if the node is configured with more processors than it has.
func Remote(n *remote.Node, worth cgroup.CPU) Node {
	if worth == 0 {
		worth = cgroup.Processor
	}
	return &far{n, worth}
}

// far adapts a remote.Node.
type far struct {
	*remote.Node
	worth cgroup.CPU
}

// Renew implements Node.
func (f *far) Renew(ctx context.Context, lease time.Duration) error {
	if err := f.Node.Renew(ctx, lease); err != nil {
		return err
	}
	if why := f.Unfit(); why != "" {
		return &UnfitError{why}
	}
	return nil
}

// Launch implements Node.
func (f *far) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	p, err := f.Node.Launch(ctx, taskOf(&t, f.worth))
	if err != nil {
		return nil, err // not a nil *remote.Task
	}
	return p, nil
}

// Attach implements Node.
func (f *far) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	st, p, err := f.Node.Attach(ctx, node.ID(id))
	if err != nil || p == nil {
		return st, nil, err // not a nil *remote.Task
	}
	return st, p, nil
}

// Bar implements Node.
func (f *far) Bar(ctx context.Context, id ID) (bool, error) { return f.Node.Bar(ctx, node.ID(id)) }

// SetShares implements Node.
func (f *far) SetShares(ctx context.Context, all []Shares) error {
	list := make([]node.Share, len(all))
	for i, s := range all {
		list[i] = node.Share{ID: node.ID(s.ID), CPU: amount(s.Allocation, f.worth)}
	}
	return f.Node.SetShares(ctx, list)
}
