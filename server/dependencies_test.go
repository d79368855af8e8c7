package server

import (
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// onDone is a dependency on a job that must end DONE.
func onDone(id string) *droverv1.Dependency { return &droverv1.Dependency{JobId: id} }

// onEnd is a dependency on a job with any final state.
func onEnd(id string) *droverv1.Dependency {
	return &droverv1.Dependency{JobId: id, Condition: droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY}
}

func TestJobRunsWhenItsDependenciesAreDone(t *testing.T) {
	s := start(t, configured(t, "policy: {name: fcfs}"))
	name, say := pipe(t)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Arguments: arguments{"pipe": text(name)}})
	second := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}})
	third := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{
		onDone(second.GetId()),
		onEnd(first.GetId()), onDone(second.GetId()),
	}})
	if second.GetState() != held || strings.Join(second.GetAwaits(), " ") != first.GetId() {
		t.Errorf("second job: %v", second)
	}
	if third.GetState() != held || strings.Join(third.GetAwaits(), " ") != second.GetId()+" "+first.GetId() {
		t.Errorf("third job: %v", third)
	}
	if d := third.GetRequest().GetAfter(); len(d) != 3 ||
		d[1].GetCondition() != droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY ||
		d[0].GetJobId() != second.GetId() {
		t.Errorf("request: %v", d)
	}
	// A held job takes no processors: others run before it.
	s.until(t, s.submit(t, &droverv1.Request{Service: "print"}).GetId(), done)
	again, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId:   second.GetId(),
		Request: &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}},
	})
	if err != nil || again.GetJob().GetState() != held {
		t.Errorf("repeated Submit: %v, %v", again, err)
	}
	say("x")
	last := s.until(t, third.GetId(), done)
	if len(last.GetAwaits()) != 0 {
		t.Errorf("the job still awaits %v", last.GetAwaits())
	}
	before := s.until(t, second.GetId(), done)
	if last.GetStartedAt().AsTime().Before(before.GetEndedAt().AsTime()) {
		t.Errorf("started at %v, before its dependency ended at %v", last.GetStartedAt().AsTime(),
			before.GetEndedAt().AsTime())
	}
}

func TestJobWithAFailedDependencyIsCancelledWithAReason(t *testing.T) {
	s := start(t, configured(t, "policy: {name: easy}"))
	name, say := pipe(t)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 4, Arguments: arguments{"pipe": text(name)}})
	fails := s.submit(t, &droverv1.Request{
		Service: "print", Arguments: arguments{"code": number(3)}, After: []*droverv1.Dependency{onDone(first.GetId())},
	})
	second := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(fails.GetId())}})
	clean := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{
		onEnd(second.GetId()),
		onEnd(fails.GetId()),
	}})
	say("x")
	s.until(t, fails.GetId(), failed)
	j := s.until(t, second.GetId(), cancelled)
	if want := "it was to come after another one: job " + fails.GetId() + " ended FAILED"; j.GetOutcome().GetReason() !=
		want || j.GetStartedAt() != nil {
		t.Errorf("%v", j.GetOutcome())
	}
	s.until(t, clean.GetId(), done)
	for what, c := range map[string]struct {
		after  *droverv1.Dependency
		reason string
		code   connect.Code
	}{
		"failed job":  {onDone(fails.GetId()), "dependency-failed", connect.CodeFailedPrecondition},
		"unknown job": {onDone(newID(t)), "unknown-job", connect.CodeNotFound},
		"invalid ID":  {onDone("last"), "bad-value", connect.CodeInvalidArgument},
		"unknown condition": {
			&droverv1.Dependency{JobId: clean.GetId(), Condition: 77}, "bad-value",
			connect.CodeInvalidArgument,
		},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
			JobId:   newID(t),
			Request: &droverv1.Request{Service: "print", After: []*droverv1.Dependency{c.after}},
		})
		code, d := detail(t, err)
		if code != c.code || d.GetReason() != c.reason || !strings.HasPrefix(d.GetField(), "request.after") ||
			d.GetRetryable() {
			t.Errorf("%s: %v %v", what, code, d)
		}
	}
	own := newID(t)
	_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId:   own,
		Request: &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(own)}},
	})
	if _, d := detail(t, err); d.GetReason() != "unknown-job" {
		t.Errorf("dependency on itself: %v", d)
	}
}

func TestCancelOfAHeldJobCancelsItsDependents(t *testing.T) {
	s := start(t, configured(t, ""))
	name, say := pipe(t)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Arguments: arguments{"pipe": text(name)}})
	second := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}})
	third := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(second.GetId())}})
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: second.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, second.GetId(), cancelled)
	if j := s.until(t, third.GetId(), cancelled); !strings.HasSuffix(j.GetOutcome().GetReason(), "ended CANCELLED") {
		t.Errorf("%v", j.GetOutcome())
	}
	say("x")
	s.until(t, first.GetId(), done)
}

// The dependency is at another site. The servers of both sites are killed meanwhile.
func TestRemoteDependencySurvivesKillsAndOutages(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	first := newID(t)
	g.source.submit(first, g.ground.request("once", 1, true, 0))
	g.source.ready(first)
	id := newID(t)
	r := g.ground.request("once", 1, false, 0)
	r.After = []*droverv1.Dependency{onDone(first)}
	listens := g.when(g.source, "WatchJob", before, func() {})
	if j := g.submitSoon(g.target, id, r); j.GetState() != held {
		t.Fatalf("submitted: %v", j)
	}
	select {
	case <-listens: // it watches instead of polling
	case <-within(t).Done():
		t.Fatal("no watch on the site of the first job")
	}
	fails := newID(t)
	g.source.submit(fails, g.ground.request("once", 1, true, 7))
	bad := newID(t)
	r = g.ground.request("once", 1, false, 0)
	r.After = []*droverv1.Dependency{onDone(fails)}
	g.submitSoon(g.target, bad, r)
	g.target.kill()
	g.target.run()
	g.source.kill()
	if j := g.target.job(id); j.GetState() != held || len(j.GetAwaits()) != 1 {
		t.Errorf("while its site is down: %v", j)
	}
	// A site that could have the job does not answer.
	r = g.ground.request("once", 1, false, 0)
	r.After = []*droverv1.Dependency{onDone(newID(t))}
	_, err := g.target.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: r})
	if _, d := detail(t, err); d.GetReason() != "unreachable" || !d.GetRetryable() || d.GetField() != "request.after" {
		t.Errorf("dependency on a job of a site that is down: %v", d)
	}
	g.source.run()
	g.ground.open()
	g.target.until(id, done)
	if j := g.target.until(bad, cancelled); !strings.HasSuffix(j.GetOutcome().GetReason(),
		"job "+fails+" ended FAILED") {
		t.Errorf("%v", j.GetOutcome())
	}
	lines, order, _ := g.ground.lines(t)
	if lines[id] != 1 || lines[first] != 1 || lines[bad] != 0 || order[len(order)-1] != id {
		t.Errorf("runs: %v, order %v", lines, order)
	}
}

// The dependency moves to another site.
func TestDependentsFollowAJobThatMoves(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "policy: {name: fcfs}")
	first := g.queue(payload) // it waits behind another job at the source
	id := newID(t)
	r := g.ground.request("once", 1, false, 0)
	r.After = []*droverv1.Dependency{onDone(first)}
	if j := g.source.submit(id, r); j.GetState() != held {
		t.Fatalf("submitted: %v", j)
	}
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: first, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(first, gone)
	if at, _ := g.settled(first, payload); at != g.target {
		t.Errorf("it ran at %s", at.name)
	}
	g.source.until(id, done)
}

// submitSoon submits a request as soon as its site knows where its dependencies are.
func (g *grid) submitSoon(p *processSite, id string, r *droverv1.Request) *droverv1.Job {
	g.t.Helper()
	for ctx := within(g.t); ; {
		res, err := p.client.Submit(ctx, &droverv1.SubmitRequest{JobId: id, Request: r})
		if err == nil {
			return res.GetJob()
		}
		if _, d := detail(g.t, err); d.GetReason() != "unknown-job" || ctx.Err() != nil {
			g.t.Fatal(err)
		}
		pause(ctx, 20*time.Millisecond)
	}
}

func TestLaterReportOfADependencyWins(t *testing.T) {
	seen := func(state site.State, epoch uint32) sighting {
		return sighting{Sighting: rpc.Sighting{State: state, Epoch: epoch}}
	}
	for _, c := range []struct{ better, other sighting }{
		{seen(site.Gone, 0), seen(site.Absent, 5)}, // the move of the higher epoch was aborted
		{seen(site.Incoming, 1), seen(site.Absent, 0)},
		{seen(site.Moving, 1), seen(site.Incoming, 1)},
		{seen(site.Waiting, 1), seen(site.Gone, 1)},
		{seen(site.Done, 3), seen(site.Gone, 3)},
		{seen(site.Done, 3), seen(site.Gone, 1)},
		{seen(site.Waiting, 4), seen(site.Failed, 3)}, // an operator settled the higher epoch
	} {
		if !c.better.better(&c.other) || c.other.better(&c.better) {
			t.Errorf("%v of epoch %d does not win over %v of epoch %d", c.better.State, c.better.Epoch, c.other.State,
				c.other.Epoch)
		}
	}
}

func TestOnlyTheSiteThatHasAnUnfinishedJobIsBelieved(t *testing.T) {
	for state, want := range map[site.State]bool{
		site.Waiting: true, site.Running: true, site.Incoming: true, site.Yielding: true,
		site.Absent: false, site.Gone: false, site.Done: false, site.Cancelled: false,
	} {
		if got := (&sighting{Sighting: rpc.Sighting{State: state}}).live(); got != want {
			t.Errorf("%v: %t", state, got)
		}
	}
}
