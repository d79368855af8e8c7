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
	// Spec is what to run. Its Places are those of this process, all on this node;
	// Processors times Share of them is what it may have of the processors there, and
	// Processors times memory what it may have of the memory.
	Spec exec.Spec
}

// Shares is what a process that runs may have from now on.
type Shares struct {
	ID         ID
	Allocation []batch.NodeAllocation // as in Task
}

// Node is one node of the site, as a pool uses it. Its methods may be called from
// several goroutines, and give up when ctx ends.
//
// The processes of a node live on a lease. A launch that was sent under a lease that
// has run out is not carried out under a later one.
type Node interface {
	// Renew renews the lease, and proves that the node answers. When it has returned
	// without an error, all that this and earlier calls, those too that were never
	// answered, can have brought about is that processes live until the lease is over,
	// counted from the return; see Config.Lease. An *UnfitError is as none, but that
	// nothing can be launched.
	Renew(ctx context.Context, lease time.Duration) error
	// Launch runs a process once, however often it is asked to. Errors are as of
	// exec.Launcher: one says that it does not run and never will, with
	// exec.ErrNodeGone if nothing was sent, and with exec.ErrNeverRan if something was.
	// What cannot be known, because the node did not answer or ctx has ended, is a
	// Process.
	Launch(ctx context.Context, t TaskSpec) (exec.Launched, error)
	// Attach says what became of a process, and returns it if it runs. An error means
	// that nobody knows.
	Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error)
	// Bar makes the claim of a process, so that it never runs, unless it is claimed
	// already. Won says that it never has run, nor will. An error means that nobody
	// knows.
	Bar(ctx context.Context, id ID) (won bool, err error)
	// SetShares sets the shares of many. Those that have ended are passed over. Of two
	// calls the later one counts, whatever the network delivers last.
	SetShares(ctx context.Context, all []Shares) error
}

// A Process of a node (exec.Process, and exec.Detacher) outlives the connection: Wait
// returns when the node has said how it has ended, however often it was out of reach
// in between, or when it is detached. Its Signal may take as long as a message does, and
// is passed over when it arrives after a later one.

// UnfitError says that a node answers, and that what runs there goes on, but that no
// task can be started.
type UnfitError struct{ Why string }

func (e *UnfitError) Error() string { return "it can start nothing: " + e.Why }

// peer is what a pool knows of a node.
type peer struct {
	pool    *Pool
	name    string
	node    Node
	indices []int32
	began   time.Time
	wake    chan struct{} // for keep; holds one
	unsent  chan struct{} // for sendShares; holds one

	telling sync.Mutex // one call of the follower; before mu

	mu      sync.Mutex
	up      bool
	unfit   bool          // it answers, but nothing can be launched there
	why     string        // why it is not there, as last logged; "" if it is, or was not asked yet
	told    bool          // what the follower has been told; at first that all are there
	asked   bool          // a renewal has been tried
	over    time.Time     // when the lease is over there if nothing more is heard
	lapsed  bool          // it is, and the members were told
	turned  chan struct{} // closed when one of the above changes
	members map[ID]*member
	given   []ID          // up, since nothing was heard of the node
	shares  map[ID]Shares // to be sent
}

func newPeer(p *Pool, name string, node Node) *peer {
	now := time.Now()
	return &peer{
		pool: p, name: name, node: node, began: now, wake: make(chan struct{}, 1), unsent: make(chan struct{}, 1),
		// An earlier life of the server may have renewed it until now.
		told: true, over: now.Add(p.cfg.Lease + p.cfg.Margin), turned: make(chan struct{}),
		members: make(map[ID]*member), shares: make(map[ID]Shares),
	}
}

// there says whether tasks can be launched, which is what the follower is told. The
// caller holds mu.
func (e *peer) there() bool { return e.up && !e.unfit }

// kick has keep look around at once.
func (e *peer) kick() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// turn tells those who wait for a change. The caller holds mu.
func (e *peer) turn() {
	close(e.turned)
	e.turned = make(chan struct{})
}

// until waits until so, which is called with mu held, is true; false if ctx has ended
// or the pool is closed.
func (e *peer) until(ctx context.Context, so func() bool) bool {
	for {
		e.mu.Lock()
		ok, turned := so(), e.turned
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

// enter has a member followed; false if the node is not there.
func (e *peer) enter(m *member, anyway bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.there() && !anyway {
		return false
	}
	e.members[m.id] = m
	return true
}

// leave forgets a member that has ended.
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

// Local makes a Node of this host, for all the virtual nodes that it is. It is always
// there, and what runs on it needs no lease. Worth is as of Remote. Pins are the
// processors that each virtual node has for itself, by its index in the platform; where
// there are none, tasks run anywhere.
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

// cpus returns the processors of those virtual nodes; none means all.
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

// Renew is Node's.
func (n *near) Renew(context.Context, time.Duration) error { return nil }

// Launch is Node's.
func (n *near) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	task := taskOf(&t, n.worth)
	task.CPUs = n.cpus(t.Spec.Allocation)
	p, err := n.host.Launch(ctx, task)
	if err != nil {
		return nil, err // not a nil *node.Process
	}
	return p, nil
}

// Attach is Node's.
func (n *near) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	st, p, err := n.host.Attach(ctx, node.ID(id))
	if err != nil || p == nil {
		return st, nil, err // not a nil *node.Process
	}
	return st, p, nil
}

// Bar is Node's.
func (n *near) Bar(_ context.Context, id ID) (bool, error) { return n.host.Bar(node.ID(id)) }

// SetShares is Node's.
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

// Remote makes a Node of one that is reached through its daemon. Worth is what one of
// the platform's processors is of the host's; 0 means all of one. It is less where the
// node is said to have more processors than it has.
func Remote(n *remote.Node, worth cgroup.CPU) Node {
	if worth == 0 {
		worth = cgroup.Processor
	}
	return &far{n, worth}
}

// far is a remote.Node.
type far struct {
	*remote.Node
	worth cgroup.CPU
}

// Renew is Node's.
func (f *far) Renew(ctx context.Context, lease time.Duration) error {
	if err := f.Node.Renew(ctx, lease); err != nil {
		return err
	}
	if why := f.Unfit(); why != "" {
		return &UnfitError{why}
	}
	return nil
}

// Launch is Node's.
func (f *far) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	p, err := f.Node.Launch(ctx, taskOf(&t, f.worth))
	if err != nil {
		return nil, err // not a nil *remote.Process
	}
	return p, nil
}

// Attach is Node's.
func (f *far) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	st, p, err := f.Node.Attach(ctx, node.ID(id))
	if err != nil || p == nil {
		return st, nil, err // likewise
	}
	return st, p, nil
}

// Bar is Node's.
func (f *far) Bar(ctx context.Context, id ID) (bool, error) { return f.Node.Bar(ctx, node.ID(id)) }

// SetShares is Node's.
func (f *far) SetShares(ctx context.Context, all []Shares) error {
	list := make([]node.Share, len(all))
	for i, s := range all {
		list[i] = node.Share{ID: node.ID(s.ID), CPU: amount(s.Allocation, f.worth)}
	}
	return f.Node.SetShares(ctx, list)
}
