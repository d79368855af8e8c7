package slurm

import (
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

func start(t *testing.T, nodes int) *site {
	t.Helper()
	return newSite(t, slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: nodes})[0])
}

func TestJobsRunAndEndAsTheyDo(t *testing.T) {
	s := start(t, 4)
	done := s.submit(1, 1, batch.Minute, "true")
	failed := s.submit(2, 2, batch.Minute, "exit 7")
	killed := s.submit(3, 1, batch.Minute, "sleep 600")
	other := s.submit(4, 1, batch.Minute, "sleep 600")
	if f := s.awaitPhase(done, batch.PhaseEnded); f.Outcome.End != batch.EndDone || f.Started.IsZero() || f.Ended.Before(f.Started) || len(f.Nodes) != 1 {
		t.Errorf("done: %+v", f)
	}
	if f := s.awaitPhase(failed, batch.PhaseEnded); f.Outcome.End != batch.EndFailed || f.Outcome.ExitCode != 7 || len(f.Nodes) != 2 {
		t.Errorf("failed: %+v", f)
	}
	s.awaitPhase(killed, batch.PhaseRunning)
	s.awaitPhase(other, batch.PhaseRunning)
	s.order(batch.Command{Kind: batch.CmdCancel, Key: killed})
	if f := s.awaitPhase(killed, batch.PhaseEnded); f.Outcome.End != batch.EndCancelled || f.Started.IsZero() {
		t.Errorf("cancelled: %+v", f)
	}
	s.cluster.Run(t, "scancel", "--name="+Name(other))
	if f := s.awaitPhase(other, batch.PhaseEnded); f.Outcome.End != batch.EndCancelled || f.Outcome.Reason == "cancelled" {
		t.Errorf("cancelled by somebody else: %+v", f)
	}
	for _, key := range []batch.Key{done, failed, killed, other} {
		if n := s.runs(key); n != 1 {
			t.Errorf("job %s ran %d times", key.Job, n)
		}
	}
}

func TestWhatSlurmRefusesEndsAsNotStarted(t *testing.T) {
	s := start(t, 1)
	key := s.submit(1, 9, batch.Minute, "true")
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndStartFailed || f.Outcome.Reason == "" || !f.Started.IsZero() {
		t.Errorf("%+v", f)
	}
}

func TestHeldJobsDoNotStartAndPlacedOnesDoWithTheirNewShape(t *testing.T) {
	s := start(t, 2)
	blocker := s.submit(1, 2, batch.Hour, "sleep 600")
	s.awaitPhase(blocker, batch.PhaseRunning)
	held, placed := s.submit(2, 1, batch.Minute, "true"), s.submit(3, 1, batch.Minute, "true")
	slurmtest.Until(t, "both wait in Slurm", func() bool { return s.queued() == 3 })
	s.order(batch.Command{Kind: batch.CmdHold, Key: held}, batch.Command{Kind: batch.CmdHold, Key: placed})
	s.awaitPhase(held, batch.PhaseHeld)
	s.awaitPhase(placed, batch.PhaseHeld)
	shape := batch.Shape{Width: 2, Walltime: 3 * batch.Minute}
	s.order(batch.Command{Kind: batch.CmdPlace, Key: placed, Shape: shape})
	s.order(batch.Command{Kind: batch.CmdCancel, Key: blocker})
	if f := s.awaitPhase(placed, batch.PhaseEnded); f.Outcome.End != batch.EndDone || f.Shape != shape || len(f.Nodes) != 2 {
		t.Errorf("placed: %+v", f)
	}
	if f := s.find(held); f.Phase != batch.PhaseHeld || s.runs(held) != 0 {
		t.Errorf("held: %+v", f)
	}
	s.order(batch.Command{Kind: batch.CmdRelease, Key: held})
	if f := s.awaitPhase(held, batch.PhaseEnded); f.Outcome.End != batch.EndDone {
		t.Errorf("released: %+v", f)
	}
}

func TestReservedJobsWaitForTheirConfirmation(t *testing.T) {
	s := start(t, 1)
	key := attemptOf(1)
	s.order(batch.Command{Kind: batch.CmdReserve, Key: key, Job: &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}})
	after := s.submit(2, 1, batch.Minute, "true")
	s.awaitPhase(after, batch.PhaseEnded)
	if f := s.find(key); f.Phase != batch.PhaseReserved || s.runs(key) != 0 {
		t.Errorf("reserved: %+v", f)
	}
	s.order(batch.Command{Kind: batch.CmdConfirm, Key: key})
	s.awaitPhase(key, batch.PhaseEnded)
}

func TestOnlySoManyJobsWaitInSlurmAtOnce(t *testing.T) {
	s := start(t, 1)
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.open(func(c *Config) { c.Most = 3 })
	blocker := s.submit(1, 1, batch.Hour, "sleep 600")
	s.awaitPhase(blocker, batch.PhaseRunning)
	var keys []batch.Key
	for n := range 8 {
		keys = append(keys, s.submit(10+n, 1, batch.Minute, "true"))
	}
	slurmtest.Until(t, "Slurm has three", func() bool { return s.queued() >= 4 })
	s.order(batch.Command{Kind: batch.CmdCancel, Key: keys[7]}) // waits here
	if f := s.find(keys[7]); f.Phase != batch.PhaseEnded || f.Outcome.End != batch.EndCancelled {
		t.Errorf("cancelled before it was submitted: %+v", f)
	}
	s.order(batch.Command{Kind: batch.CmdCancel, Key: blocker})
	for most := 0; s.find(keys[6]).Phase != batch.PhaseEnded; {
		if n := s.queued(); n > most {
			most = n
			if most > 5 { // three, one that runs and one that completes
				t.Fatalf("%d jobs in Slurm", n)
			}
		}
	}
	for _, key := range keys[:7] {
		if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone || s.runs(key) != 1 {
			t.Errorf("%+v", f)
		}
	}
}

func TestEstimatesComeSoonAfterTheNodesDo(t *testing.T) {
	s := start(t, 2)
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.cluster.Run(t, "scontrol", "update", "NodeName=an[1-2]", "State=DRAIN", "Reason=test")
	s.reopen(nil)
	if err := s.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	asks := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 1, Walltime: batch.Minute}}}}
	estimated := func() bool {
		_, _, ok, err := s.Estimate(t.Context(), asks)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if estimated() {
		t.Error("an estimate without nodes")
	}
	s.cluster.Run(t, "scontrol", "update", "NodeName=an[1-2]", "State=RESUME")
	began := time.Now()
	slurmtest.Until(t, "there are estimates", estimated)
	if took := time.Since(began); took > nodesEvery/2 {
		t.Errorf("only after %v", took)
	}
}
