package slurm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// wound is a cluster of one processor whose controller has a saved state in which an
// attempt waits behind somebody's job, and the attempt.
type wound struct {
	*site
	key     batch.Key
	blocker string
	goes    string // the attempt ends when this file is there
}

// newWound saves the state, and returns when the attempt runs.
func newWound(t *testing.T) *wound {
	t.Helper()
	t.Parallel()
	w := &wound{site: start(t, 1)}
	w.goes = filepath.Join(w.dir, "go")
	w.blocker = w.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	w.key = w.submit(1, 1, batch.Minute, "while [ ! -e "+w.goes+" ]; do sleep 0.1; done")
	slurmtest.Until(t, "it is in Slurm", func() bool { return w.queued() == 2 })
	w.cluster.Stop(t)
	w.cluster.Save(t)
	w.cluster.StartController(t)
	w.cluster.Await(t)
	w.cluster.Run(t, "scancel", w.blocker)
	w.awaitPhase(w.key, batch.PhaseRunning)
	return w
}

// crash kills the controller and has it go on from the state that was saved.
func (w *wound) crash() {
	w.cluster.Kill(w.t)
	w.cluster.Restore(w.t)
	w.cluster.StartController(w.t)
	w.cluster.Await(w.t)
}

func (w *wound) finish() {
	if err := os.WriteFile(w.goes, nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// check wants it to have run once, and to be reported.
func (w *wound) check(end batch.End) {
	w.t.Helper()
	f := w.awaitPhase(w.key, batch.PhaseEnded)
	if n := w.runs(w.key); f.Outcome.End != end || n != 1 {
		w.t.Errorf("%+v, ran %d times", f, n)
	}
	slurmtest.Until(w.t, "it is reported", func() bool { return w.reported(w.key) > 0 })
	slurmtest.Until(w.t, "it has left Slurm", func() bool { return w.queued() <= 1 })
	if n := w.reported(w.key); n > 2 {
		w.t.Errorf("reported %d times", n)
	}
}

// The controller kills what runs when it finds it on a node.
func TestAnAttemptThatSlurmPutsBackIntoItsQueueWhileItRunsIsLost(t *testing.T) {
	w := newWound(t)
	w.crash()
	w.check(batch.EndLost)
}

func TestAnAttemptThatSlurmStartsAgainUnseenIsLost(t *testing.T) {
	w := newWound(t)
	if err := w.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.crash()
	w.cluster.Run(t, "scancel", w.blocker)
	slurmtest.Until(t, "it was started again", func() bool { return w.queued() == 0 })
	w.open(func(c *Config) {
		c.Adopt = []Adopted{{Key: w.key, Job: &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}}}
	})
	w.check(batch.EndLost)
}

func TestAnAttemptThatSlurmStartsAgainAfterItsEndIsDone(t *testing.T) {
	w := newWound(t)
	w.finish()
	w.awaitPhase(w.key, batch.PhaseEnded)
	w.crash()
	w.check(batch.EndDone)
}

// Nobody looks between its end and the end of its second start.
func TestAnAttemptWhoseSecondStartNobodySeesIsDoneAndReported(t *testing.T) {
	w := newWound(t)
	if err := w.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.finish()
	slurmtest.Until(t, "it has ended", func() bool { return w.queued() == 0 })
	w.crash()
	w.cluster.Run(t, "scancel", w.blocker)
	slurmtest.Until(t, "it was started again", func() bool { return w.queued() == 0 })
	w.open(func(c *Config) {
		c.Adopt = []Adopted{{Key: w.key, Job: &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}}}
	})
	w.check(batch.EndDone)
}
