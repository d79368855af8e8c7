package server

import (
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestTargetThatMissedADropAsksTheSource(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]moment{"killed before Drop": before, "killed after Drop": after} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "")
			id := g.queue(payload)
			dropped := g.when(g.target, "Drop", m, g.target.kill)
			g.aborted(&droverv1.MoveJobRequest{JobId: id, To: "nice", MinGain: seconds(3600)}, "its gain would be")
			select {
			case <-dropped:
			case <-within(t).Done():
				t.Fatal("Drop was not called")
			}
			g.target.run()
			g.gathered()
			if jobs := g.target.list(); len(jobs) != 0 {
				t.Errorf("jobs at the target: %v, want none", jobs)
			}
			if at, _ := g.settled(id, payload); at != g.source {
				t.Errorf("the job ran at %s", at.name)
			}
		})
	}
}

// never fails the test if the job has run.
func (g *grid) never(id string) {
	g.t.Helper()
	g.ground.open()
	g.gathered()
	if lines, _, _ := g.ground.lines(g.t); lines[id] != 0 {
		g.t.Errorf("the job ran %d times, want 0", lines[id])
	}
}

func (p *processSite) cancel(id string) *droverv1.Job {
	p.t.Helper()
	res, err := p.client.CancelJob(within(p.t), &droverv1.CancelJobRequest{JobId: id})
	if err != nil {
		p.t.Error(err)
	}
	return res.GetJob()
}

func TestCancelDuringReserveAbortsTheMove(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]moment{"before Reserve": before, "after Reserve": after} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "")
			id := g.queue([]byte("x"))
			cancelledThen := g.when(g.target, "Reserve", m, func() {
				if j := g.source.cancel(id); j.GetState() != droverv1.JobState_JOB_STATE_CANCELLING &&
					j.GetState() != cancelled {
					t.Errorf("CancelJob = %v", j)
				}
			})
			arrived := cancelledThen
			if m == before { // the target receives Reserve afterwards and asks the source
				arrived = g.when(g.target, "Reserve", after, func() {})
			}
			if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
				t.Fatal(err)
			}
			<-cancelledThen
			<-arrived
			if j := g.source.until(id, cancelled); len(j.GetMoves()) != 1 ||
				j.GetMoves()[0].GetState() != droverv1.MoveState_MOVE_STATE_ABORTED {
				t.Errorf("moves: %v, want one aborted", j.GetMoves())
			}
			g.never(id)
			if jobs := g.target.list(); len(jobs) != 0 {
				t.Errorf("jobs at the target: %v, want none", jobs)
			}
		})
	}
}

func TestCancelOfAnIncomingJobTakesEffectOnArrival(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue([]byte("x"))
	asked := g.when(g.target, "Confirm", before, func() {
		if j := g.source.cancel(id); j.GetState() != gone || j.GetMovedTo() != "nice" {
			t.Errorf("CancelJob at the source = %v", j)
		}
		if j := g.target.cancel(id); j.GetState() != incoming || !j.GetCancelRecorded() {
			t.Errorf("CancelJob at the target = %v", j)
		}
		g.target.kill() // the cancel is durable
		g.target.run()
	})
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	<-asked
	g.source.until(id, gone)
	g.target.until(id, cancelled)
	g.never(id)
}

// A job keeps its identity when it comes back under a higher epoch.
func TestJobMovesToAnotherSiteAndBack(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue(payload)
	other := g.target.submit(newID(t), g.ground.request("once", 4, true, 0))
	g.target.ready(other.GetId())
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	g.target.until(id, waiting)
	g.gathered()
	g.source, g.target = g.target, g.source
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "lyon", SeenEpoch: 1}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	j := g.target.until(id, waiting)
	if j.GetEpoch() != 2 || len(j.GetMoves()) != 2 {
		t.Errorf("after the return: %v", j)
	}
	g.target.kill()
	g.target.run()
	g.settled(id, payload)
}

func TestOperatorSettlesMovesOfALostSite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step       string
		when       moment
		lost       func(*grid) *processSite
		at         func(*grid) *processSite
		settlement droverv1.Settlement
		state      droverv1.JobState // before SettleJob
		runs       int
	}{
		"source committed": {
			"Confirm", before,
			func(g *grid) *processSite { return g.source },
			func(g *grid) *processSite { return g.target },
			droverv1.Settlement_SETTLEMENT_COMMITTED, incoming, 1,
		},
		"source aborted": {
			"Reserve", after,
			func(g *grid) *processSite { return g.source },
			func(g *grid) *processSite { return g.target },
			droverv1.Settlement_SETTLEMENT_ABORTED, incoming, 0,
		},
		"target without the job": {
			"Confirm", before,
			func(g *grid) *processSite { return g.target },
			func(g *grid) *processSite { return g.source },
			droverv1.Settlement_SETTLEMENT_TAKE_BACK, gone, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "")
			id := g.queue(payload)
			lost := g.when(g.target, c.step, c.when, c.lost(g).kill)
			_, _ = g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}) // the answer may be lost with the source
			<-lost
			at := c.at(g)
			at.until(id, c.state)
			for _, wrong := range []*droverv1.SettleJobRequest{
				{JobId: id, Epoch: 1, Reason: "r"},
				{JobId: id, Epoch: 2, Settlement: c.settlement, Reason: "r"},
				{JobId: id, Epoch: 1, Settlement: 99, Reason: "r"},
				{JobId: newID(t), Epoch: 1, Settlement: c.settlement, Reason: "r"},
			} {
				if _, err := at.client.SettleJob(within(t), wrong); err == nil {
					t.Errorf("SettleJob accepted %v", wrong)
				} else if _, d := detail(t, err); d.GetField() == "" {
					t.Errorf("%v: %v", wrong, d)
				}
			}
			res, err := at.client.SettleJob(within(t), &droverv1.SettleJobRequest{
				JobId: id, Epoch: 1,
				Settlement: c.settlement, Reason: "site lost in a fire",
			})
			at.kill() // the answer is durable
			at.run()
			g.ground.open()
			if c.runs == 0 {
				if _, err := at.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: id}); err == nil {
					t.Error("the job still exists")
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				at.until(id, done)
				site := &testSite{client: at.client, base: "http://" + at.address()}
				if got, err := site.download(within(t), id, "out", 0); err != nil || string(got) != string(payload) {
					t.Errorf("output of %d bytes, %v", len(got), err)
				}
			}
			if lines, _, _ := g.ground.lines(t); lines[id] != c.runs {
				t.Errorf("the job ran %d times; SettleJob = %v, %v", lines[id], res, err)
			}
		})
	}
}
