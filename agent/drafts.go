package agent

import (
	"context"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
)

const (
	// draftLease is how long a site keeps a draft without a call of its round.
	draftLease = time.Minute
	// draftRenewal is the age of the last call at which a site is called although there
	// is nothing to ask.
	draftRenewal = draftLease / 3
)

// drafts are the sites' drafts for one round.
type drafts struct {
	agent *Agent
	ctx   context.Context // of the round
	round string
	part  *participants
	jobs  []waitingJob

	took     time.Duration            // in calls
	failures map[int]result[struct{}] // by site
	called   []time.Time              // by site: the last call; zero if there is no draft
}

var _ rounds.Drafts = (*drafts)(nil)

// Call sends the calls, each to its site, at the same time.
func (d *drafts) Call(calls []*rounds.Call) {
	began := time.Now()
	if d.called == nil {
		d.called = make([]time.Time, len(d.part.sites))
		d.failures = make(map[int]result[struct{}])
	}
	now := make(map[int]bool, len(calls))
	for _, c := range calls {
		now[c.Site] = true
	}
	var wg sync.WaitGroup
	for s, at := range d.called {
		if !now[s] && !at.IsZero() && began.Sub(at) > draftRenewal {
			d.called[s] = began
			wg.Go(func() { d.send(s, rpc.KeepDraft()) }) // the next call reports a failure
		}
	}
	failures := make([]result[struct{}], len(calls))
	for i, c := range calls {
		wg.Go(func() { failures[i] = d.call(c) })
	}
	wg.Wait()
	for i, c := range calls {
		d.called[c.Site] = began
		if over := c.End || c.Failed; over && d.ctx.Err() == nil { // otherwise abandon ends it
			d.called[c.Site] = time.Time{}
		}
		if c.Failed {
			d.failures[c.Site] = failures[i]
		}
	}
	d.took += time.Since(began)
}

// abandon ends the drafts of a round that is broken off. A few such rounds would block
// others until their leases end.
func (d *drafts) abandon() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), d.agent.cfg.Patience)
	defer cancel()
	d.ctx = ctx
	var wg sync.WaitGroup
	for s, at := range d.called {
		if !at.IsZero() {
			wg.Go(func() { d.send(s, rpc.EndDraft()) })
		}
	}
	wg.Wait()
}

// call makes one call, in pieces, and returns the result of the piece that failed.
func (d *drafts) call(c *rounds.Call) result[struct{}] {
	pieces := rpc.DraftPieces(c, func(i int) (string, rpc.Request) { return d.jobs[i].id, d.jobs[i].request })
	for _, piece := range pieces {
		r := d.send(c.Site, piece)
		if c.Failed = !r.answered(); c.Failed {
			return result[struct{}]{missing: r.missing, problem: r.problem}
		}
		c.Edited = append(c.Edited, r.value.edited...)
		c.Answers = append(c.Answers, r.value.answers...)
	}
	return result[struct{}]{}
}

type draftAnswers struct{ edited, answers []rounds.Answer }

func (d *drafts) send(site int, piece rpc.DraftPiece) result[draftAnswers] {
	p := d.part.peers[site]
	return patiently(d.ctx, d.agent, d.part.sites[site], p, func(ctx context.Context) (a draftAnswers, err error) {
		a.edited, a.answers, err = p.Draft(ctx, d.round, micros(draftLease), piece)
		return a, err
	})
}
