package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

const (
	// mostOrders bounds the orders to move that one site gets at a time. A site with
	// fewer than inTurn gets them one after the other, so that jobs mostly arrive at the
	// other site in the order of the round.
	mostOrders = 8
	inTurn     = 100
	// mostLate is how many orders a site may answer too late before it gets no more.
	mostLate = 2
	// holdLease is how long jobs stay out of the plan if they are not placed, as when
	// the agent is killed in between. They are placed as soon as all are held.
	holdLease = 30 * time.Second
	// mostHeld bounds the jobs of one HoldJobs. More are held in several parts, each
	// under a round name of its own.
	mostHeld = 1000
	// placeAttempts is how often the placement of held jobs is sent at most: a lost order
	// would leave them out of the plan for the rest of the lease.
	placeAttempts = 3
)

// order is a job of a round that is to be ordered, and the listing that it was
// computed from.
type order struct {
	choice *rpc.RoundJob
	job    *waitingJob
}

// orderRound orders what a round has chosen. All sites get their orders at the same
// time.
func (a *Agent) orderRound(ctx context.Context, r *rpc.Round, part *participants, jobs []waitingJob) {
	bySite := make([][]order, len(part.sites))
	for i := range r.Jobs {
		c := &r.Jobs[i]
		bySite[c.From] = append(bySite[c.From], order{choice: c, job: &jobs[c.Job]})
	}
	each := func(f func(site int, list []order)) {
		var wg sync.WaitGroup
		for s, list := range bySite {
			if len(list) > 0 {
				wg.Go(func() { f(s, list) })
			}
		}
		wg.Wait()
	}
	if r.Config.Algorithm != reallocation.AllCancellation {
		each(func(s int, list []order) { a.orderMoves(ctx, r, part.sites[s], part.peers[s], list) })
		return
	}
	// Held jobs are in no plan, so their placement is sent even if ctx ends.
	ending := context.WithoutCancel(ctx)
	held := make([][]heldPart, len(bySite))
	each(func(s int, list []order) { held[s] = a.holdParts(ctx, r, part.sites[s], part.peers[s], list) })
	each(func(s int, _ []order) {
		for _, h := range held[s] {
			a.placePart(ending, r, part.sites[s], part.peers[s], h)
		}
	})
}

// orderMoves gives a site its orders to move jobs in the round's order, a few at a time
// if there are many.
func (a *Agent) orderMoves(ctx context.Context, r *rpc.Round, s *mapping.Site, p *rpc.Peer, list []order) {
	next := make(chan order)
	var wg sync.WaitGroup
	var late atomic.Int32
	for range min(mostOrders, 1+len(list)/inTurn) {
		wg.Go(func() {
			for o := range next {
				if late.Load() >= mostLate { // the others would be late too
					o.choice.Problem = lostSite(s.Name)
					continue
				}
				res := patiently(ctx, a, s, p, func(ctx context.Context) (rpc.Job, error) {
					return p.Move(ctx, rpc.MoveOrder{
						Job: o.job.id, To: o.choice.ToSite, Epoch: o.job.epoch, MinGain: o.choice.Least,
						Reason: reasonOf(r, o.choice), Agent: a.cfg.Name,
					})
				})
				o.choice.Problem = res.problem
				if o.choice.Ordered = res.answered(); res.missing == mapping.Timeout {
					late.Add(1)
				}
			}
		})
	}
	for _, o := range list {
		next <- o
	}
	close(next)
	wg.Wait()
}

// heldPart is some of the jobs of one site, which are held together.
type heldPart struct {
	round string
	list  []order
	held  map[string]bool // by ID
}

// holdParts takes the jobs of one site out of its plan.
func (a *Agent) holdParts(ctx context.Context, r *rpc.Round, s *mapping.Site, p *rpc.Peer, list []order) []heldPart {
	var parts []heldPart
	var res result[map[string]bool]
	for part := range slices.Chunk(list, mostHeld) {
		if !res.answered() && !res.refused() { // the site is silent
			for _, o := range part {
				o.choice.Problem = res.problem
			}
			continue
		}
		round := fmt.Sprintf("%s/%d", r.ID, len(parts))
		var ids []string
		for _, o := range part {
			ids = append(ids, o.job.id)
		}
		res = patiently(ctx, a, s, p, func(ctx context.Context) (map[string]bool, error) {
			return p.Hold(ctx, round, micros(holdLease), ids)
		})
		for _, o := range part {
			switch {
			case !res.answered():
				o.choice.Problem = res.problem
			case !res.value[o.job.id]:
				o.choice.Problem = problem.New(problem.NotWaiting, "the job no longer waits, or another round holds it")
			}
		}
		// Jobs can be held although no answer came. Placing none of them puts all back.
		parts = append(parts, heldPart{round: round, list: part, held: res.value})
	}
	return parts
}

// placePart ends the holding of jobs: those that were held get their slots, here or at
// another site.
func (a *Agent) placePart(ctx context.Context, r *rpc.Round, s *mapping.Site, p *rpc.Peer, part heldPart) {
	var placements []rpc.Placement
	for _, o := range part.list {
		if !part.held[o.job.id] {
			continue
		}
		l := rpc.Placement{Job: o.job.id, Shape: o.choice.Shape}
		if o.choice.To != o.choice.From {
			l.To, l.MinGain, l.Reason = o.choice.ToSite, o.choice.Least, reasonOf(r, o.choice)
		}
		placements = append(placements, l)
	}
	var res result[map[string]mapping.State]
	attempts := placeAttempts
	if len(part.held) == 0 {
		attempts = 1
	}
	for range attempts {
		res = patiently(ctx, a, s, p, func(ctx context.Context) (map[string]mapping.State, error) {
			return p.Place(ctx, part.round, a.cfg.Name, placements)
		})
		if res.answered() || res.refused() {
			break
		}
	}
	for _, o := range part.list {
		if !part.held[o.job.id] {
			continue
		}
		state, known := res.value[o.job.id]
		switch {
		case !res.answered():
			o.choice.Problem = res.problem
		case known && (o.choice.To == o.choice.From || state != mapping.Waiting):
			o.choice.Ordered = true
		default:
			o.choice.Problem = problem.New(problem.NotMovable, "the site kept the job, which is %v", state)
		}
	}
}

// reasonOf returns why a job moves, for the record.
func reasonOf(r *rpc.Round, c *rpc.RoundJob) string {
	return fmt.Sprintf("reallocation (%v, %v): %v at %s, %v at %s",
		r.Config.Algorithm, r.Config.Heuristic, rounded(c.Before), c.FromSite, rounded(c.After), c.ToSite)
}

// rounded returns a duration for people, to the tenth of a second.
func rounded(d batch.Duration) time.Duration { return d.Std().Round(100 * time.Millisecond) }
