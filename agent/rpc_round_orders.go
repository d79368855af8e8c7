package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

const (
	// ordersAtOnce bounds the orders to move that one site is given at a time; of
	// fewer than inTurn each waits for the one before, so that who was chosen first
	// mostly comes first at the other site, too.
	ordersAtOnce = 8
	inTurn       = 100
	// mostLate is how many orders a site may leave without an answer in time before
	// it gets no more.
	mostLate = 2
	// holdLease is how long jobs stay out of the plan if their placement does not
	// come, as when the agent is killed in between. They are placed as soon as all
	// are held.
	holdLease = 30 * time.Second
	// mostHeld bounds the jobs of one HoldJobs: of more, several are held one after
	// the other, as rounds of their own.
	mostHeld = 1000
	// placings is how often the placement of held jobs is sent at most: an order
	// that was lost would leave them out of the plan for the rest of the lease.
	placings = 3
)

// order is a job of a round that is to be ordered: what is computed, and the
// listing it was computed from.
type order struct {
	choice *reallocated
	job    *waitingJob
}

// orderRound orders what a round has chosen. All sites are given their orders at
// the same time.
func (a *Agent) orderRound(ctx context.Context, r *roundReport, places *roundPlaces, jobs []waitingJob) {
	bySite := make([][]order, len(places.sites))
	for i := range r.jobs {
		c := &r.jobs[i]
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
	if r.config.Algorithm != reallocation.AllCancellation {
		each(func(s int, list []order) { a.orderMoves(ctx, r, places.sites[s], places.peers[s], list) })
		return
	}
	// What was begun is ended: jobs that are held have no place in any plan.
	ending := context.WithoutCancel(ctx)
	held := make([][]orderedPart, len(bySite))
	each(func(s int, list []order) { held[s] = a.holdParts(ctx, r, places.sites[s], places.peers[s], list) })
	each(func(s int, _ []order) {
		for _, part := range held[s] {
			a.placePart(ending, r, places.sites[s], places.peers[s], part)
		}
	})
}

// orderMoves gives a site its orders to move jobs in the round's order, a few at a
// time if they are many.
func (a *Agent) orderMoves(ctx context.Context, r *roundReport, s *mapping.Site, p *peer, list []order) {
	next := make(chan order)
	var wg sync.WaitGroup
	var late atomic.Int32 // orders that were not answered in time
	for range min(ordersAtOnce, 1+len(list)/inTurn) {
		wg.Go(func() {
			for o := range next {
				if late.Load() >= mostLate { // so would the others be
					o.choice.problem = lostSite(s.Name)
					continue
				}
				var missing mapping.Missing
				missing, o.choice.problem = a.orderMove(ctx, r, s, p, o)
				if o.choice.ordered = missing == mapping.Answered; missing == mapping.Timeout {
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

func (a *Agent) orderMove(ctx context.Context, r *roundReport, s *mapping.Site, p *peer, o order) (mapping.Missing, *problem.Problem) {
	res := slowly(ctx, a, s, p, func(ctx context.Context, p *peer) (*droverv1.MoveJobResponse, error) {
		return p.client.MoveJob(ctx, &droverv1.MoveJobRequest{
			JobId: o.job.id, To: o.choice.to, SeenEpoch: o.job.epoch, MinGain: durationOut(o.choice.Least),
			Reason: r.reason(o.choice), Agent: a.cfg.Name,
		})
	})
	return res.missing, res.problem
}

// orderedPart is some of the jobs of one site, which are held together.
type orderedPart struct {
	round string
	list  []order
	held  map[string]bool // by ID
}

// holdParts takes the jobs of one site out of its plan.
func (a *Agent) holdParts(ctx context.Context, r *roundReport, s *mapping.Site, p *peer, list []order) []orderedPart {
	var parts []orderedPart
	var res result[*droverv1.HoldJobsResponse]
	for part := range slices.Chunk(list, mostHeld) {
		round := fmt.Sprintf("%s/%d", r.id, len(parts))
		req := &droverv1.HoldJobsRequest{Round: round, Lease: durationOut(micros(holdLease))}
		for _, o := range part {
			req.JobIds = append(req.JobIds, o.job.id)
		}
		if res.missing != mapping.Answered && res.missing != mapping.Refused { // it is silent
			for _, o := range part {
				o.choice.problem = res.problem
			}
			continue
		}
		res = slowly(ctx, a, s, p, func(ctx context.Context, p *peer) (*droverv1.HoldJobsResponse, error) {
			return p.client.HoldJobs(ctx, req)
		})
		held := make(map[string]bool)
		for _, d := range res.value.GetJobs() {
			held[d.GetId()] = true
		}
		for _, o := range part {
			switch {
			case res.missing != mapping.Answered:
				o.choice.problem = res.problem
			case !held[o.job.id]:
				o.choice.problem = &problem.Problem{Reason: problem.NotWaiting, Message: "the job does not wait any more, or another round holds it"}
			}
		}
		// Without an answer they may be held all the same: their placement, of none,
		// then puts all back.
		parts = append(parts, orderedPart{round: round, list: part, held: held})
	}
	return parts
}

// placePart ends the holding of jobs: those that were held get their places.
func (a *Agent) placePart(ctx context.Context, r *roundReport, s *mapping.Site, p *peer, part orderedPart) {
	req := &droverv1.PlaceJobsRequest{Round: part.round, Agent: a.cfg.Name}
	for _, o := range part.list {
		if !part.held[o.job.id] {
			continue
		}
		m := &droverv1.Placement{JobId: o.job.id}
		if o.choice.To != o.choice.From {
			m.To, m.MinGain, m.Reason = o.choice.to, durationOut(o.choice.Least), r.reason(o.choice)
		} else {
			m.Shape = &droverv1.Shape{Width: o.choice.Shape.Width, Walltime: durationOut(o.choice.Shape.Walltime)}
		}
		req.Placements = append(req.Placements, m)
	}
	var res result[*droverv1.PlaceJobsResponse]
	tries := placings
	if len(part.held) == 0 {
		tries = 1
	}
	for range tries {
		res = slowly(ctx, a, s, p, func(ctx context.Context, p *peer) (*droverv1.PlaceJobsResponse, error) {
			return p.client.PlaceJobs(ctx, req)
		})
		if res.missing == mapping.Answered || res.missing == mapping.Refused {
			break
		}
	}
	placed := make(map[string]mapping.State)
	for _, d := range res.value.GetJobs() {
		placed[d.GetId()] = statesIn[d.GetState()]
	}
	for _, o := range part.list {
		if !part.held[o.job.id] {
			continue
		}
		state, known := placed[o.job.id]
		switch {
		case res.missing != mapping.Answered:
			o.choice.problem = res.problem
		case known && (o.choice.To == o.choice.From || state != mapping.Waiting):
			o.choice.ordered = true
		default:
			o.choice.problem = &problem.Problem{Reason: problem.NotMovable, Message: "the site has kept the job: it is " + state.String()}
		}
	}
}

// reason is why a job goes elsewhere, for the record.
func (r *roundReport) reason(c *reallocated) string {
	return fmt.Sprintf("reallocation (%v, %v): %v at %s, %v at %s",
		r.config.Algorithm, r.config.Heuristic, rounded(c.Before), c.from, rounded(c.After), c.to)
}

// rounded returns a length of time for people, to the tenth of a second.
func rounded(d batch.Duration) time.Duration { return d.Std().Round(100 * time.Millisecond) }
