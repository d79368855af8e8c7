package externaltest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// Rig is a cluster of single-processor nodes under test.
type Rig interface {
	// Connect returns the cluster as Drover uses it.
	Connect() external.Cluster
	// Interval is a good time between polls.
	Interval() time.Duration
	// Jobs returns how many jobs of all users wait or run.
	Jobs() int
	// SubmitLocal submits a local user's job of one processor that runs until it is
	// cancelled, and returns its ID.
	SubmitLocal() (id string)
	// CancelLocal cancels a job by its ID or name, as another user would.
	CancelLocal(idOrName string)
	// Outage makes the controller stop answering until restore is called. Jobs that run
	// continue.
	Outage() (restore func())
	// Forget makes the controller forget all jobs.
	Forget()
}

// Run tests the behavior of a cluster. start starts one with a number of nodes that ends
// with the test.
func Run(t *testing.T, start func(t *testing.T, nodes int) Rig) {
	for name, test := range map[string]struct {
		nodes int
		run   func(*testing.T, Rig, *Site)
	}{
		"jobs run and report their end":                      {4, runJobs},
		"a refused job ends as not started":                  {1, refuseJob},
		"held jobs do not start and placed jobs change":      {2, holdAndPlace},
		"reserved jobs wait for their confirmation":          {1, reserve},
		"at most MaxQueued jobs wait in the cluster":         {1, limitQueue},
		"a restarted server finds its jobs":                  {2, restart},
		"a job cancelled during a restart is cancelled":      {1, cancelDuringRestart},
		"an unanswered submission is found and not repeated": {1, loseAnswer},
		"an attempt that was submitted twice runs once":      {1, submitTwice},
		"a job with a reused ID is not cancelled":            {1, reuseID},
		"during an outage jobs wait and nothing is repeated": {1, outage},
		"before the first answer the state is unknown":       {1, unknownState},
		"a lost job never ran and never will":                {1, loseJob},
	} {
		t.Run(name, func(t *testing.T) {
			rig := start(t, test.nodes)
			test.run(t, rig, NewSite(t, rig.Connect(), rig.Interval()))
		})
	}
}

func runJobs(t *testing.T, rig Rig, s *Site) {
	done := s.Submit(1, 1, batch.Minute, "true")
	failed := s.Submit(2, 2, batch.Minute, "exit 7")
	killed := s.Submit(3, 1, batch.Minute, "sleep 600")
	other := s.Submit(4, 1, batch.Minute, "sleep 600")
	if f := s.AwaitEnd(done, batch.EndDone); f.Started.IsZero() || f.Ended.Before(f.Started) || len(f.Nodes) != 1 {
		t.Errorf("done: %+v", f)
	}
	if f := s.AwaitEnd(failed, batch.EndFailed); f.Outcome.ExitCode != 7 || len(f.Nodes) != 2 {
		t.Errorf("failed: %+v", f)
	}
	s.AwaitPhase(killed, batch.PhaseRunning)
	s.AwaitPhase(other, batch.PhaseRunning)
	s.Order(batch.Command{Kind: batch.CmdCancel, Key: killed})
	if f := s.AwaitEnd(killed, batch.EndCancelled); f.Started.IsZero() {
		t.Errorf("cancelled: %+v", f)
	}
	rig.CancelLocal(external.Name(other))
	if f := s.AwaitEnd(other, batch.EndCancelled); f.Outcome.Reason == "cancelled" {
		t.Errorf("cancelled by another user: %+v", f)
	}
}

func refuseJob(t *testing.T, _ Rig, s *Site) {
	key := s.Submit(1, 9, batch.Minute, "true")
	f := s.AwaitPhase(key, batch.PhaseEnded)
	if f.Outcome.End != batch.EndStartFailed || f.Outcome.Reason == "" || !f.Started.IsZero() {
		t.Errorf("%+v", f)
	}
}

func holdAndPlace(t *testing.T, rig Rig, s *Site) {
	blocker := s.Submit(1, 2, batch.Hour, "sleep 600")
	s.AwaitPhase(blocker, batch.PhaseRunning)
	held, placed := s.Submit(2, 1, batch.Minute, "true"), s.Submit(3, 1, batch.Minute, "true")
	Until(t, "both wait in the cluster", func() bool { return rig.Jobs() == 3 })
	s.Order(batch.Command{Kind: batch.CmdHold, Key: held}, batch.Command{Kind: batch.CmdHold, Key: placed})
	s.AwaitPhase(held, batch.PhaseHeld)
	s.AwaitPhase(placed, batch.PhaseHeld)
	shape := batch.Shape{Width: 2, Walltime: 3 * batch.Minute}
	s.Order(batch.Command{Kind: batch.CmdPlace, Key: placed, Shape: shape})
	s.Order(batch.Command{Kind: batch.CmdCancel, Key: blocker})
	if f := s.AwaitEnd(placed, batch.EndDone); f.Shape != shape || len(f.Nodes) != 2 {
		t.Errorf("placed: %+v", f)
	}
	if f := s.State(held); f.Phase != batch.PhaseHeld || s.Runs(held) != 0 {
		t.Errorf("held: %+v", f)
	}
	s.Order(batch.Command{Kind: batch.CmdRelease, Key: held})
	s.AwaitEnd(held, batch.EndDone)
}

func reserve(t *testing.T, _ Rig, s *Site) {
	key := AttemptOf(1)
	job := &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}
	s.Order(batch.Command{Kind: batch.CmdReserve, Key: key, Job: job})
	after := s.Submit(2, 1, batch.Minute, "true")
	s.AwaitPhase(after, batch.PhaseEnded)
	if f := s.State(key); f.Phase != batch.PhaseReserved || s.Runs(key) != 0 {
		t.Errorf("reserved: %+v", f)
	}
	s.Order(batch.Command{Kind: batch.CmdConfirm, Key: key})
	s.AwaitPhase(key, batch.PhaseEnded)
}

func limitQueue(t *testing.T, rig Rig, s *Site) {
	s.Restart(func(c *external.Config) { c.MaxQueued = 3 })
	blocker := s.Submit(1, 1, batch.Hour, "sleep 600")
	s.AwaitPhase(blocker, batch.PhaseRunning)
	var keys []batch.Key
	for n := range 8 {
		keys = append(keys, s.Submit(10+n, 1, batch.Minute, "true"))
	}
	Until(t, "the cluster has three", func() bool { return rig.Jobs() >= 4 })
	s.Order(batch.Command{Kind: batch.CmdCancel, Key: keys[7]}) // in the local queue
	if f := s.State(keys[7]); f.Phase != batch.PhaseEnded || f.Outcome.End != batch.EndCancelled {
		t.Errorf("cancelled before its submission: %+v", f)
	}
	s.Order(batch.Command{Kind: batch.CmdCancel, Key: blocker})
	Until(t, "the last job has ended", func() bool {
		if n := rig.Jobs(); n > 5 { // three, one that runs and one that completes
			t.Fatalf("%d jobs in the cluster", n)
		}
		return s.State(keys[6]).Phase == batch.PhaseEnded
	})
	for _, key := range keys[:7] {
		s.AwaitEnd(key, batch.EndDone)
	}
}

func restart(t *testing.T, rig Rig, s *Site) {
	wait, open := s.Gate("go")
	running := s.Submit(1, 2, batch.Hour, wait)
	s.AwaitPhase(running, batch.PhaseRunning)
	waiting := s.Submit(2, 1, batch.Minute, "true")
	Until(t, "both are in the cluster", func() bool { return rig.Jobs() == 2 })
	adopt := Adopting(batch.Shape{Width: 2, Walltime: batch.Hour}, running)
	s.Restart(adopt)
	s.Submit(2, 1, batch.Minute, "true") // servers submit again what waits
	s.AwaitPhase(running, batch.PhaseRunning)
	if n := rig.Jobs(); n != 2 {
		t.Errorf("%d jobs in the cluster", n)
	}
	s.StopServer()
	open()
	Until(t, "both have ended", func() bool { return rig.Jobs() == 0 })
	s.Open(adopt)
	s.Submit(2, 1, batch.Minute, "true")
	for _, key := range []batch.Key{running, waiting} {
		if f := s.AwaitEnd(key, batch.EndDone); f.Started.IsZero() {
			t.Errorf("%+v", f)
		}
	}
}

// The System does not know the ID of the attempt, only its name.
func cancelDuringRestart(t *testing.T, rig Rig, s *Site) {
	key := s.Submit(1, 1, batch.Minute, "sleep 100")
	s.AwaitPhase(key, batch.PhaseRunning)
	s.StopServer()
	rig.CancelLocal(external.Name(key))
	Until(t, "it has ended", func() bool { return rig.Jobs() == 0 })
	s.Open(Adopting(batch.Shape{Width: 1, Walltime: batch.Minute}, key))
	if f := s.AwaitEnd(key, batch.EndCancelled); f.Outcome.Reason == "cancelled" {
		t.Errorf("%+v", f)
	}
}

// unanswered is a cluster that never answers a submission.
type unanswered struct{ external.Cluster }

func (c unanswered) Submit(ctx context.Context, sub *external.Submission) (string, error) {
	if _, err := c.Cluster.Submit(ctx, sub); err != nil {
		return "", err
	}
	return "", &external.UnreachableError{Command: "submit", Sent: true, Text: "the answer is lost"}
}

func loseAnswer(t *testing.T, rig Rig, s *Site) {
	local := rig.SubmitLocal()
	s.Restart(func(c *external.Config) { c.Cluster = unanswered{s.Cluster} })
	key := s.Submit(1, 1, batch.Minute, "true")
	Until(t, "the submission is found", func() bool {
		return s.Logged("unconfirmed submission found", string(key.Job)) > 0
	})
	if n := rig.Jobs(); n != 2 {
		t.Errorf("%d jobs in the cluster", n)
	}
	rig.CancelLocal(local)
	s.AwaitEnd(key, batch.EndDone)
}

func submitTwice(t *testing.T, rig Rig, s *Site) {
	local := rig.SubmitLocal()
	key := s.Submit(1, 1, batch.Minute, "true")
	Until(t, "it is in the cluster", func() bool { return rig.Jobs() == 2 })
	script, err := s.Script(key, batch.Shape{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Cluster.Submit(t.Context(), &external.Submission{
		Script: script, Name: external.Name(key), Comment: external.Comment(SiteName, key, "bob"),
		Width: 1, Limit: batch.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	Until(t, "the second job is cancelled", func() bool { return s.Reported(key) > 0 && rig.Jobs() == 2 })
	rig.CancelLocal(local)
	s.AwaitEnd(key, batch.EndDone)
}

// wrongID is a cluster that answers submissions with the ID of another job, until the
// next List.
type wrongID struct {
	external.Cluster
	id string
}

func (c wrongID) Submit(ctx context.Context, sub *external.Submission) (string, error) {
	_, err := c.Cluster.Submit(ctx, sub)
	return c.id, err
}

// A controller that lost its state can give the ID of a job to another user's job.
func reuseID(t *testing.T, rig Rig, s *Site) {
	first, second := rig.SubmitLocal(), rig.SubmitLocal()
	s.Restart(func(c *external.Config) { c.Cluster, c.Interval = wrongID{s.Cluster, second}, 4*rig.Interval() })
	key := s.Submit(1, 1, batch.Minute, "true")
	Until(t, "it is submitted under the other ID", func() bool { return s.Logged("submitted", string(key.Job)) > 0 })
	s.Order(batch.Command{Kind: batch.CmdCancel, Key: key})
	if f := s.AwaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndCancelled || s.Runs(key) != 0 {
		t.Errorf("%+v", f)
	}
	if n := rig.Jobs(); n != 2 {
		t.Errorf("%d jobs in the cluster, want %s and %s", n, first, second)
	}
	records, err := s.Cluster.Lookup(t.Context(), []string{first, second}, nil)
	for _, r := range records {
		if r.Over() {
			t.Errorf("job %s of a local user has ended: %+v", r.ID, r)
		}
	}
	if err != nil || len(records) != 2 {
		t.Errorf("%+v, %v", records, err)
	}
}

func outage(t *testing.T, rig Rig, s *Site) {
	wait, open := s.Gate("go")
	first := s.Submit(1, 1, batch.Hour, wait)
	s.AwaitPhase(first, batch.PhaseRunning)
	restore := rig.Outage()
	second := s.Submit(2, 1, batch.Minute, "true")
	cancelled := s.Submit(3, 1, batch.Minute, "true")
	s.Order(batch.Command{Kind: batch.CmdCancel, Key: cancelled})
	Until(t, "the outage is noticed", func() bool { return s.Logged("controller does not answer") > 0 })
	_, age, ok, err := s.Estimate(t.Context(), oneMinute())
	if err != nil || !ok || age == 0 {
		t.Errorf("estimate during an outage: age %v, %v, %v", age, ok, err)
	}
	if f := s.State(first); f.Phase != batch.PhaseRunning {
		t.Errorf("the running job: %+v", f)
	}
	open()
	restore()
	for _, key := range []batch.Key{first, second} {
		s.AwaitEnd(key, batch.EndDone)
	}
	if s.Runs(cancelled) != 0 {
		t.Error("a cancelled job has run")
	}
}

func oneMinute() []batch.Ask {
	return []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 1, Walltime: batch.Minute}}}}
}

func unknownState(t *testing.T, rig Rig, s *Site) {
	restore := rig.Outage()
	s.Restart(func(c *external.Config) { c.MaxUnseen = 1 })
	var unknown *external.UnknownError
	if _, _, _, err := s.Estimate(t.Context(), oneMinute()); !errors.As(err, &unknown) {
		t.Errorf("before the first answer: %v", err)
	}
	if _, ok := s.RoughEstimate(t.Context(), oneMinute()); !ok {
		t.Error("no rough estimate")
	}
	key := s.Submit(1, 1, batch.Minute, "true")
	if _, ok := s.RoughEstimate(t.Context(), oneMinute()); ok {
		t.Error("a rough estimate for more than MaxUnseen jobs")
	}
	restore()
	s.AwaitEnd(key, batch.EndDone)
}

func loseJob(t *testing.T, rig Rig, s *Site) {
	rig.SubmitLocal()
	key := s.Submit(1, 1, batch.Minute, "true")
	Until(t, "it is in the cluster", func() bool { return rig.Jobs() == 2 })
	rig.Forget()
	if f := s.AwaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndNeverRan || s.Runs(key) != 0 {
		t.Errorf("%+v after %d runs", f, s.Runs(key))
	}
	// The claim keeps the attempt from running if the cluster rediscovers it.
	if p, err := s.Read(key); err != nil || !p.Barred {
		t.Errorf("%+v, %v", p, err)
	}
}

// Counting is a cluster that counts its polls.
type Counting struct {
	external.Cluster
	Polls atomic.Int64
}

// List implements external.Cluster.
func (c *Counting) List(ctx context.Context) ([]external.Job, error) {
	defer c.Polls.Add(1)
	return c.Cluster.List(ctx)
}
