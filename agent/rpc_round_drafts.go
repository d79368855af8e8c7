package agent

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

const (
	// draftLease is how long a site keeps a draft without hearing of the round.
	draftLease = time.Minute
	// restless is after how long a site hears of the round though there is nothing
	// to ask it.
	restless = draftLease / 3
	// A long call is sent in pieces, so that each is answered soon and fits into a
	// message.
	mostInCall     = 500
	mostCallLength = rpc.LargestMessage / 2
)

// drafts are the sites' copies of their plans for one round.
type drafts struct {
	agent  *Agent
	ctx    context.Context // of the round
	round  string
	places *roundPlaces
	jobs   []waitingJob

	took     time.Duration                           // in calls
	failures map[int]result[*droverv1.DraftResponse] // by site
	heard    []time.Time                             // by site, when it was last called; zero: there is no draft
}

var _ rounds.Drafts = (*drafts)(nil)

// Call sends the calls, each to its site, at the same time.
func (d *drafts) Call(calls []*rounds.Call) {
	began := time.Now()
	if d.heard == nil {
		d.heard = make([]time.Time, len(d.places.sites))
		d.failures = make(map[int]result[*droverv1.DraftResponse])
	}
	called := make(map[int]bool, len(calls))
	for _, c := range calls {
		called[c.Site] = true
	}
	var wg sync.WaitGroup
	for s, at := range d.heard {
		if !called[s] && !at.IsZero() && began.Sub(at) > restless {
			d.heard[s] = began
			wg.Go(func() { d.send(s, &droverv1.DraftRequest{}) }) // a failure is told by the next call
		}
	}
	failures := make([]result[*droverv1.DraftResponse], len(calls))
	for i, c := range calls {
		wg.Go(func() { failures[i] = d.call(c) })
	}
	wg.Wait()
	for i, c := range calls {
		d.heard[c.Site] = began
		if over := c.End || c.Failed; over && d.ctx.Err() == nil { // else abandon ends it
			d.heard[c.Site] = time.Time{}
		}
		if c.Failed {
			d.failures[c.Site] = failures[i]
		}
	}
	d.took += time.Since(began)
}

// abandon ends the drafts of a round that is broken off: a few such rounds would
// leave no room for others until their leases are over.
func (d *drafts) abandon() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), d.agent.cfg.Patience)
	defer cancel()
	d.ctx = ctx
	var wg sync.WaitGroup
	for s, at := range d.heard {
		if !at.IsZero() {
			wg.Go(func() { d.send(s, &droverv1.DraftRequest{End: true}) }) // else its lease does
		}
	}
	wg.Wait()
}

// call makes one call, in pieces, and returns the piece that failed.
func (d *drafts) call(c *rounds.Call) result[*droverv1.DraftResponse] {
	for _, piece := range d.pieces(c) {
		r := d.send(c.Site, piece)
		if r.missing == mapping.Answered &&
			(len(r.value.GetEdits()) != len(piece.GetEdits()) || len(r.value.GetAnswers()) != len(piece.GetQuestions())) {
			r = result[*droverv1.DraftResponse]{missing: mapping.Unreachable, problem: &problem.Problem{
				Reason: problem.Internal, Message: "the server's draft does not answer what was asked",
			}}
		}
		if c.Failed = r.missing != mapping.Answered; c.Failed {
			return r
		}
		for _, q := range r.value.GetEdits() {
			c.Edited = append(c.Edited, draftAnswerIn(q))
		}
		for _, q := range r.value.GetAnswers() {
			c.Answers = append(c.Answers, draftAnswerIn(q))
		}
	}
	return result[*droverv1.DraftResponse]{}
}

func (d *drafts) send(site int, piece *droverv1.DraftRequest) result[*droverv1.DraftResponse] {
	piece.Round, piece.Lease = d.round, durationOut(micros(draftLease))
	return slowly(d.ctx, d.agent, d.places.sites[site], d.places.peers[site],
		func(ctx context.Context, p *peer) (*droverv1.DraftResponse, error) { return p.client.Draft(ctx, piece) })
}

// pieces returns a call as the messages it is sent in.
func (d *drafts) pieces(c *rounds.Call) []*droverv1.DraftRequest {
	list := []*droverv1.DraftRequest{{Begin: c.Begin}}
	count, length := 0, 0
	// room returns the piece that something goes into.
	room := func(m proto.Message) *droverv1.DraftRequest {
		n := proto.Size(m)
		if count > 0 && (count == mostInCall || length+n > mostCallLength) {
			list = append(list, &droverv1.DraftRequest{})
			count, length = 0, 0
		}
		count++
		length += n
		return list[len(list)-1]
	}
	for _, e := range c.Edits {
		m := &droverv1.DraftEdit{JobId: d.jobs[e.Job].id, Put: e.Put}
		if e.Put {
			m.Request, m.NotBefore = d.jobs[e.Job].request, durationOut(e.After)
		}
		p := room(m)
		p.Edits = append(p.Edits, m)
	}
	for _, q := range c.Questions {
		m := &droverv1.DraftQuestion{JobId: d.jobs[q.Job].id}
		if !q.Standing {
			m.Request, m.NotBefore = d.jobs[q.Job].request, durationOut(q.After)
		}
		p := room(m)
		p.Questions = append(p.Questions, m)
	}
	list[len(list)-1].End = c.End
	return list
}

// draftAnswerIn reads a quote. One that tells no completion promises nothing.
func draftAnswerIn(q *droverv1.Quote) rounds.Answer {
	a := rounds.Answer{
		Refused: q.GetRefusal() != nil, Completion: batch.Forever,
		Shape:    batch.Shape{Width: q.GetWidth(), Walltime: durationIn(q.GetWalltime())},
		Promised: q.GetKind() == droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
	}
	if q.GetCompletion() != nil {
		a.Completion = durationIn(q.GetCompletion())
	}
	return a
}
