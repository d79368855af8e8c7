package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/rpc"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// ErrNotHeld is returned when a lease could not be renewed although the node answers: its
// answers take longer than the lease.
var ErrNotHeld = errors.New("the node answers too late for its lease")

// Config configures New. Address, Site and SiteID are required.
type Config struct {
	// Name is the expected name of the node; "" accepts any.
	Name string
	// Address is the URL of its daemon.
	Address string
	// Site and SiteID identify the claimant: its name, and the ID of its data directory.
	Site, SiteID string
	// UseInterval is the interval of measurements; 0 is never.
	UseInterval time.Duration
	// Measured, if not nil, is called with the measurements of running tasks, by one goroutine
	// that reads nothing else meanwhile.
	Measured func([]node.Measurement)
	// Logger may be nil.
	Logger hclog.Logger
}

// Node is one node. Its methods may be called from several goroutines.
type Node struct {
	cfg    Config
	log    hclog.Logger
	client *rpc.Client
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu        sync.Mutex
	next      attempt.Token // for the next renewal
	token     attempt.Token // for launches: of the last renewal that succeeded
	renewed   chan struct{} // closed and replaced when there is a new token
	unfit     string        // from the last renewal
	processes map[node.ID]*Task
	closed    bool
	end       context.CancelFunc // ends the watch, if there is one
	watches   bool
	last      node.Sequence // that was used

	sharing sync.Mutex // held while shares are stored and numbered; before mu
}

// New begins to watch a node. It does not wait for it.
func New(cfg Config) *Node {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	n := &Node{
		cfg: cfg, log: cfg.Logger.With("node", cfg.Name),
		client:  rpc.NewClient(cfg.Address, node.Claimant{Site: cfg.Site, ID: cfg.SiteID, Node: cfg.Name}),
		renewed: make(chan struct{}), processes: make(map[node.ID]*Task),
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.work.Go(n.run)
	return n
}

// Close leaves tasks running, on their lease: they are detached.
func (n *Node) Close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.cancel()
	n.work.Wait()
	n.client.Close()
	for _, p := range n.following() {
		p.Detach()
	}
}

// Name returns the node's name.
func (n *Node) Name() string { return n.cfg.Name }

// Describe queries the description of the node.
func (n *Node) Describe(ctx context.Context) (node.Description, error) { return n.client.Describe(ctx) }

// Renew claims the node, if it is free, and renews the lease of its tasks. When it has
// returned without an error, the effect of this and all earlier calls, including unanswered
// ones, is at most that tasks live until the lease is over, counted from the return.
func (n *Node) Renew(ctx context.Context, lease time.Duration) error {
	for range 2 { // the first may only fetch a token
		n.mu.Lock()
		token := n.next
		n.mu.Unlock()
		res, err := n.client.Renew(ctx, token, lease)
		if err != nil {
			return err
		}
		n.mu.Lock()
		n.next, n.unfit = res.Next, res.Unfit
		if res.Held {
			// Launches use only tokens of successful renewals: otherwise the caller could
			// consider tasks over that still run.
			n.token = res.Next
			close(n.renewed)
			n.renewed = make(chan struct{})
		}
		n.mu.Unlock()
		if res.Held {
			return nil
		}
	}
	return ErrNotHeld
}

// Unfit returns why no task can be launched on the node, from the answer to the last renewal;
// "" if one can.
func (n *Node) Unfit() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.unfit
}

// Launch runs a task at most once, however often it is called. An error means that it does
// not run and never will: exec.ErrNodeGone if nothing was sent, exec.ErrNeverRan if another
// attempt may run. If the outcome is unknown, because ctx has ended before the node has
// answered, Launch returns a Task. While the lease is not held, it waits.
func (n *Node) Launch(ctx context.Context, t node.TaskSpec) (*Task, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	p, err := n.follow(t.ID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
	}
	sent := false // and possibly received
	for pauses := newPauses(); ; {
		n.mu.Lock()
		renewed := n.renewed
		t.Token = n.token
		n.mu.Unlock()
		st, err := n.client.Launch(ctx, t)
		switch {
		case err == nil:
			return n.launched(p, st)
		case errors.Is(err, attempt.ErrNoLease):
			err = wait(ctx, renewed, 0)
		case errors.Is(err, node.ErrUnreachable) && !sent:
			p.Detach()
			return nil, fmt.Errorf("%w: %w", exec.ErrNodeGone, err)
		case errors.Is(err, node.ErrUnreachable), errors.Is(err, node.ErrSilent):
			sent = sent || errors.Is(err, node.ErrSilent)
			err = wait(ctx, nil, pauses.NextBackOff())
		default: // refused because of its arguments
			p.Detach()
			return nil, err
		}
		switch {
		case err == nil:
		case sent:
			p.markDoubtful()
			n.drop() // the next watch begins with a query for it
			return p, nil
		default:
			p.Detach()
			return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
		}
	}
}

// launched handles the answer to a launch.
func (n *Node) launched(p *Task, st attempt.Status) (*Task, error) {
	var err error
	switch st.Condition {
	case attempt.Barred:
		err = fmt.Errorf("%w: %w", exec.ErrNeverRan, supervisor.ErrBarred)
	case attempt.NeverRan:
		err = fmt.Errorf("%w: %s", exec.ErrNeverRan, st.Reason)
	case attempt.Failed:
		err = &exec.ExecuteError{Errno: syscall.Errno(st.Code), Reason: st.Reason}
	default:
		p.known(st)
		return p, nil
	}
	p.Detach()
	return nil, err
}

// Attach returns what became of a task, and follows it if it runs: only then the Task is not
// nil. After an error that is unknown.
func (n *Node) Attach(ctx context.Context, id node.ID) (attempt.Status, *Task, error) {
	p, err := n.follow(id)
	if err != nil {
		return attempt.Status{}, nil, err
	}
	st, err := n.client.Attach(ctx, id)
	if err != nil || st.Condition != attempt.Running {
		p.Detach()
		return st, nil, err
	}
	p.known(st)
	return st, p, nil
}

// Bar makes the server's claim: won means that the task has never run and never will. After
// an error that is unknown.
func (n *Node) Bar(ctx context.Context, id node.ID) (won bool, err error) {
	return n.client.Bar(ctx, id)
}

// follow registers a task before any news about it can arrive.
func (n *Node) follow(id node.ID) (*Task, error) {
	if err := id.Validate(); err != nil {
		return nil, &node.InvalidError{Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return nil, fmt.Errorf("task %s: %w", id, supervisor.ErrClosed)
	case n.processes[id] != nil:
		return nil, fmt.Errorf("task %s: %w", id, supervisor.ErrFollowed)
	}
	p := &Task{node: n, id: id, ended: make(chan struct{})}
	n.processes[id] = p
	return p, nil
}

func (n *Node) unfollow(p *Task) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.processes[p.id] == p {
		delete(n.processes, p.id)
	}
}

// following returns the followed tasks, in order.
func (n *Node) following() []*Task {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]*Task, 0, len(n.processes))
	for _, p := range n.processes {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Task) int { return a.id.Compare(b.id) })
	return all
}
