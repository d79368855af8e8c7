package pool

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

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
