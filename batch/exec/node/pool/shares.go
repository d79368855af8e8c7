package pool

import (
	"context"
	"maps"
	"slices"
	"time"
)

// gather is how long shares wait for others to be sent with: a policy sets those of
// all jobs in one pass.
const gather = 5 * time.Millisecond

// give has the shares of a member sent, the last ones if there are several.
func (e *peer) give(s Shares) {
	e.mu.Lock()
	e.shares[s.ID] = s
	e.mu.Unlock()
	e.send()
}

func (e *peer) send() {
	select {
	case e.unsent <- struct{}{}:
	default:
	}
}

// sendShares sends what there is, for as long as the pool is open. What a node does
// not take waits until it is there again.
func (e *peer) sendShares() {
	for {
		select {
		case <-e.unsent:
		case <-e.pool.ctx.Done():
			return
		}
		timer := time.NewTimer(gather)
		select {
		case <-timer.C:
		case <-e.pool.ctx.Done():
			timer.Stop()
			return
		}
		e.sendAll()
	}
}

func (e *peer) sendAll() {
	e.mu.Lock()
	if !e.up || len(e.shares) == 0 {
		e.mu.Unlock()
		return
	}
	all := slices.SortedFunc(maps.Values(e.shares), func(a, b Shares) int { return compare(a.ID, b.ID) })
	clear(e.shares)
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.pool.ctx, e.pool.cfg.patience())
	defer cancel()
	err := e.node.SetShares(ctx, all)
	if err == nil || e.pool.ctx.Err() != nil {
		return
	}
	e.pool.log.Warn("shares not set", "node", e.name, "processes", len(all), "error", err)
	e.mu.Lock()
	for _, s := range all {
		if _, newer := e.shares[s.ID]; !newer && e.members[s.ID] != nil {
			e.shares[s.ID] = s
		}
	}
	e.mu.Unlock()
	// They are sent again after the next renewal.
}
