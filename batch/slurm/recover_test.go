package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// reopen ends the system as a server that is killed does, and makes the next one.
func (s *site) reopen(change func(*Config)) {
	s.t.Helper()
	if err := s.Release(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.open(change)
}

func TestASystemThatStartsAgainFindsItsJobs(t *testing.T) {
	s := start(t, 2)
	running := s.submit(1, 2, batch.Hour, "while [ ! -e "+filepath.Join(s.dir, "go")+" ]; do sleep 0.1; done")
	s.awaitPhase(running, batch.PhaseRunning)
	waiting := s.submit(2, 1, batch.Minute, "true")
	slurmtest.Until(t, "both are in Slurm", func() bool { return s.queued() == 2 })
	adopt := func(c *Config) {
		c.Adopt = []Adopted{{Key: running, Job: &batch.Job{Shape: batch.Shape{Width: 2, Walltime: batch.Hour}}}}
	}
	s.reopen(adopt)
	s.submit(2, 1, batch.Minute, "true") // as a server does with all that wait
	s.awaitPhase(running, batch.PhaseRunning)
	if n := s.queued(); n != 2 {
		t.Errorf("%d jobs in Slurm", n)
	}
	// It ends while nobody looks.
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "both have ended", func() bool { return s.queued() == 0 })
	s.open(adopt)
	s.submit(2, 1, batch.Minute, "true")
	for _, key := range []batch.Key{running, waiting} {
		if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone || s.runs(key) != 1 || f.Started.IsZero() {
			t.Errorf("%+v, ran %d times", f, s.runs(key))
		}
	}
}

// The number of an attempt that has ended while nobody looked is not known: its name is.
func TestWhyAnAttemptHasEndedWhileNobodyLookedSlurmSays(t *testing.T) {
	s := start(t, 1)
	key := s.submit(1, 1, batch.Minute, "sleep 100")
	s.awaitPhase(key, batch.PhaseRunning)
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.cluster.Run(t, "scancel", "--name="+Name(key))
	slurmtest.Until(t, "it has ended", func() bool { return s.queued() == 0 })
	s.open(func(c *Config) {
		c.Adopt = []Adopted{{Key: key, Job: &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}}}
	})
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndCancelled || f.Outcome.Reason == "cancelled" {
		t.Errorf("%+v", f)
	}
}

// The answer of sbatch is lost: its wrapper submits and then does not return.
func TestASubmissionWhoseAnswerIsLostIsFoundAndNotRepeated(t *testing.T) {
	s := start(t, 1)
	bin := t.TempDir()
	for _, name := range []string{"squeue", "scontrol", "scancel", "sinfo"} {
		if err := os.Symlink("/usr/bin/"+name, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	wrapper := "#!/bin/sh\n/usr/bin/sbatch \"$@\" > /dev/null\nexec sleep 100\n"
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	s.reopen(func(c *Config) { c.Commands.Dir, c.Commands.Timeout = bin, time.Second })
	blocker := s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	key := s.submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "it is known to be in Slurm", func() bool {
		s.System.mu.Lock()
		defer s.System.mu.Unlock()
		return s.attempts[key].stage == inside
	})
	if n := s.queued(); n != 2 {
		t.Errorf("%d jobs in Slurm", n)
	}
	s.cluster.Run(t, "scancel", blocker)
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone || s.runs(key) != 1 {
		t.Errorf("%+v, ran %d times", f, s.runs(key))
	}
}

func TestAnAttemptThatSlurmHasTwiceRunsOnce(t *testing.T) {
	s := start(t, 1)
	blocker := s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	key := s.submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "it is in Slurm", func() bool { return s.queued() == 2 })
	if _, err := s.handOver(key, batch.Shape{Width: 1, Walltime: batch.Minute}, 0); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "the second one is cancelled", func() bool { return s.queued() == 2 })
	s.cluster.Run(t, "scancel", blocker)
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone || s.runs(key) != 1 {
		t.Errorf("%+v, ran %d times", f, s.runs(key))
	}
}

func TestWhileTheControllerIsDownJobsWaitHereAndNothingIsRepeated(t *testing.T) {
	s := start(t, 1)
	first := s.submit(1, 1, batch.Hour, "while [ ! -e "+filepath.Join(s.dir, "go")+" ]; do sleep 0.1; done")
	s.awaitPhase(first, batch.PhaseRunning)
	s.cluster.Stop(t)
	second := s.submit(2, 1, batch.Minute, "true")
	cancelled := s.submit(3, 1, batch.Minute, "true")
	s.order(batch.Command{Kind: batch.CmdCancel, Key: cancelled})
	asks := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 1, Walltime: batch.Minute}}}}
	slurmtest.Until(t, "the outage is noticed", func() bool {
		s.System.mu.Lock()
		defer s.System.mu.Unlock()
		return s.view.fails > 0
	})
	_, age, ok, err := s.Estimate(t.Context(), asks)
	if err != nil || !ok || age == 0 {
		t.Errorf("estimate during an outage: age %v, %v, %v", age, ok, err)
	}
	if f := s.find(first); f.Phase != batch.PhaseRunning {
		t.Errorf("what runs is said to be %+v", f)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.cluster.StartController(t)
	s.cluster.Await(t)
	for _, key := range []batch.Key{first, second} {
		if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone || s.runs(key) != 1 {
			t.Errorf("%+v, ran %d times", f, s.runs(key))
		}
	}
	if s.runs(cancelled) != 0 {
		t.Error("one that was cancelled has run")
	}
}

func TestASlurmThatDoesNotAnswerForTooLongIsUnknown(t *testing.T) {
	s := start(t, 1)
	s.cluster.Stop(t)
	s.reopen(func(c *Config) { c.Commands.Timeout = 300 * time.Millisecond })
	asks := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 1, Walltime: batch.Minute}}}}
	var unknown *UnknownError
	if _, _, _, err := s.Estimate(t.Context(), asks); !errors.As(err, &unknown) {
		t.Errorf("before the first answer: %v", err)
	}
}

// A controller that forgets what it has accepted is what kill -9 can make of one.
// Here its state is taken away, so that it always does.
func TestAJobThatSlurmHasLostIsSaidToHaveNeverRun(t *testing.T) {
	s := start(t, 1)
	blocker := s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 1000")
	key := s.submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "it is in Slurm", func() bool { return s.queued() == 2 })
	s.cluster.Kill(t)
	s.cluster.Forget(t)
	s.cluster.StartController(t)
	s.cluster.Await(t)
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndNeverRan || s.runs(key) != 0 {
		t.Errorf("%+v, ran %d times", f, s.runs(key))
	}
	// Whatever Slurm finds again of it cannot run any more.
	if testimony, err := s.Look(key); err != nil || !testimony.Barred {
		t.Errorf("%+v, %v", testimony, err)
	}
	t.Log("blocker was", blocker)
}

func TestTheMemoryOfTheControllerMayBeShort(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1, MinJobAge: 2})[0]
	s := newSite(t, c)
	key := s.submit(1, 1, batch.Minute, "exit 5")
	slurmtest.Until(t, "it has begun", func() bool { return s.runs(key) == 1 })
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "Slurm has forgotten it", func() bool {
		_, err := c.Try("scontrol", "show", "job", "1")
		return err != nil
	})
	s.open(func(c *Config) {
		c.Adopt = []Adopted{{Key: key, Job: &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}}}
	})
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.ExitCode != 5 {
		t.Errorf("by its own word: %+v", f)
	}
	// Without a witness there is the file of completed jobs.
	past, err := s.c.Past(t.Context(), nil, []string{Name(key)})
	if err != nil || len(past) != 1 || past[0].Code != 5 {
		t.Errorf("%+v, %v", past, err)
	}
}

// A controller that was killed has given the number of a job that it had forgotten to
// somebody else's.
func TestAJobThatHasAnothersNumberIsNotCancelledInItsPlace(t *testing.T) {
	s := start(t, 1)
	blocker := s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	other := s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true")
	key := s.submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "all are in Slurm", func() bool { return s.queued() == 3 })
	s.System.mu.Lock()
	s.attempts[key].stage, s.attempts[key].id = inside, other
	s.System.mu.Unlock()
	s.order(batch.Command{Kind: batch.CmdCancel, Key: key})
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndCancelled {
		t.Errorf("%+v", f)
	}
	if left := s.cluster.Run(t, "squeue", "-h", "-o", "%i"); left != other+"\n"+blocker && left != blocker+"\n"+other {
		t.Errorf("what is left in Slurm: %q, want %s and %s", left, blocker, other)
	}
}
