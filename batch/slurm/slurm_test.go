package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/external/externaltest"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pollInterval is that of sites on real clusters.
const pollInterval = 300 * time.Millisecond

// rig is a real cluster as an externaltest.Rig.
type rig struct {
	*slurmtest.Cluster
	t *testing.T
}

func (r rig) Connect() external.Cluster {
	c := New(Config{Conf: r.Conf(), Timeout: 2 * time.Second})
	c.jobComp = r.JobComp()
	return c
}

func (r rig) Interval() time.Duration { return pollInterval }

func (r rig) Jobs() int {
	r.t.Helper()
	return len(strings.Fields(r.Run(r.t, "squeue", "-h", "-o", "%i")))
}

func (r rig) SubmitLocal() string {
	r.t.Helper()
	return r.Run(r.t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 1000")
}

func (r rig) CancelLocal(idOrName string) {
	r.t.Helper()
	if strings.HasPrefix(idOrName, "drover-") {
		idOrName = "--name=" + idOrName
	}
	r.Run(r.t, "scancel", idOrName)
}

func (r rig) Outage() (restore func()) {
	r.Stop(r.t)
	return func() {
		r.StartController(r.t)
		r.Await(r.t)
	}
}

// Forget takes the controller's saved state away, so that it forgets jobs every time: a
// controller that is killed forgets some.
func (r rig) Forget() {
	r.Kill(r.t)
	r.Cluster.Forget(r.t)
	r.StartController(r.t)
	r.Await(r.t)
}

// site is a System on a real cluster.
type site struct {
	*externaltest.Site
	rig
}

func startSite(t *testing.T, nodes int) *site {
	t.Helper()
	return newSite(t, slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: nodes})[0])
}

func newSite(t *testing.T, c *slurmtest.Cluster) *site {
	t.Helper()
	r := rig{c, t}
	return &site{externaltest.NewSite(t, r.Connect(), pollInterval), r}
}

// connection returns the Cluster that the site's Systems use.
func (s *site) connection() *Cluster { return s.Site.Cluster.(*Cluster) }

func TestSlurmBehavesAsExternalSystemsDo(t *testing.T) {
	externaltest.Run(t, func(t *testing.T, nodes int) externaltest.Rig {
		return rig{slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: nodes})[0], t}
	})
}

// The wrapper of sbatch submits and then does not return.
func TestASubmissionThatTimesOutIsFoundAndNotRepeated(t *testing.T) {
	s := startSite(t, 1)
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
	s.Restart(func(c *external.Config) { c.Cluster = New(Config{Conf: s.Conf(), Dir: bin, Timeout: time.Second}) })
	local := s.SubmitLocal()
	key := s.Submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "the submission is found",
		func() bool { return s.Logged("unconfirmed submission found", string(key.Job)) > 0 })
	if n := s.Jobs(); n != 2 {
		t.Errorf("%d jobs in Slurm", n)
	}
	s.CancelLocal(local)
	s.AwaitEnd(key, batch.EndDone)
}

func TestEstimatesFollowSoonAfterNodesBecomeUsable(t *testing.T) {
	s := startSite(t, 2)
	s.StopServer()
	s.Run(t, "scontrol", "update", "NodeName=an[1-2]", "State=DRAIN", "Reason=test")
	s.Open(nil)
	if err := s.Site.Await(t.Context()); err != nil {
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
	s.Run(t, "scontrol", "update", "NodeName=an[1-2]", "State=RESUME")
	began := time.Now()
	slurmtest.Until(t, "there are estimates", estimated)
	if took := time.Since(began); took > 15*time.Second { // nodes are polled every 30 s while some are usable
		t.Errorf("only after %v", took)
	}
}

func minutesOf(width int32, n int) batch.Shape {
	return batch.Shape{Width: width, Walltime: batch.Duration(n) * batch.Minute}
}

// A job behind a local user's job starts at that job's time limit, at the latest.
func TestForecastsFollowTheQueueOfARealCluster(t *testing.T) {
	s := startSite(t, 3)
	s.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "-n", "2", "-t", "5", "--wrap", "sleep 300")
	s.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "-n", "3", "-t", "10", "--wrap", "sleep 300")
	ask := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{minutesOf(1, 2), minutesOf(1, 30), minutesOf(3, 1)}}}
	var got []time.Duration
	slurmtest.Until(t, "a poll shows the queue", func() bool {
		ests, age, ok, err := s.Estimate(t.Context(), ask)
		if err != nil || !ok {
			return false
		}
		if age > 5*batch.Second {
			t.Fatalf("the poll is %v old", age)
		}
		got = got[:0]
		for _, b := range ests[0].Starts {
			got = append(got, b.Sub(s.Now()).Std().Round(time.Minute))
		}
		return got[2] == 15*time.Minute
	})
	if diff := cmp.Diff([]time.Duration{0, 15 * time.Minute, 15 * time.Minute}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	key := s.Submit(1, 1, 2*batch.Minute, "true")
	if f := s.AwaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone {
		t.Errorf("a job that fits before the second one: %+v", f)
	}
}

func TestAJobThatSlurmHasForgottenEndsAsItRecorded(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1, MinJobAge: 2})[0]
	s := newSite(t, c)
	key := s.Submit(1, 1, batch.Minute, "exit 5")
	slurmtest.Until(t, "it has begun", func() bool { return s.Runs(key) == 1 })
	s.StopServer()
	slurmtest.Until(t, "Slurm has forgotten it", func() bool {
		_, err := c.Try("scontrol", "show", "job", "1")
		return err != nil
	})
	s.Open(externaltest.Adopting(batch.Shape{Width: 1, Walltime: batch.Minute}, key))
	if f := s.AwaitPhase(key, batch.PhaseEnded); f.Outcome.ExitCode != 5 {
		t.Errorf("by its own record: %+v", f)
	}
	past, err := s.connection().History(t.Context(), nil, []string{external.Name(key)}, false)
	if err != nil || len(past) != 1 || past[0].Code != 5 {
		t.Errorf("by the file of completed jobs: %+v, %v", past, err)
	}
}

// An attempt that gets another shape is cancelled and submitted again under the same
// name. The record of the first job has no nodes, by which a System can tell.
func TestAJobThatNeverStartedHasNoNodes(t *testing.T) {
	s := startSite(t, 1)
	s.SubmitLocal()
	key := s.Submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "it is in Slurm", func() bool { return s.Jobs() == 2 })
	s.StopServer()
	s.CancelLocal(external.Name(key))
	slurmtest.Until(t, "it is cancelled", func() bool { return s.Jobs() == 1 })
	records, err := s.connection().Lookup(t.Context(), nil, []string{external.Name(key)})
	if err != nil || len(records) != 1 || records[0].Cause != external.Cancelled || records[0].Nodes != nil {
		t.Errorf("%+v, %v", records, err)
	}
}

// The slurmd is killed, and the program that it started survives: Slurm reports a failed
// node.
func TestAnAttemptOnAFailedNodeIsAskedToStopBeforeItIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		stops   bool
		reports int
	}{
		"it stops":                    {`while [ ! -e "$0" ]; do sleep 0.1; done; exit 9`, true, 1},
		"it does not see the request": {"sleep 100", false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSite(t, 1)
			key := s.Submit(1, 1, batch.Hour, "sh -c '"+c.program+"' "+s.File(externaltest.AttemptOf(1), "stop"))
			s.AwaitPhase(key, batch.PhaseRunning)
			s.KillNode(0)
			s.Run(t, "scontrol", "update", "NodeName=an1", "State=DOWN", "Reason=test")
			f := s.AwaitPhase(key, batch.PhaseEnded)
			progress, err := s.Read(key)
			if err != nil || f.Outcome.End != batch.EndLost || progress.Ended.IsZero() == c.stops {
				t.Errorf("%+v, %+v, %v", f.Outcome, progress, err)
			}
			if n := s.Reported(key); n != c.reports {
				t.Errorf("%d reports, want %d", n, c.reports)
			}
			slurmtest.Until(t, "Slurm has no jobs", func() bool { return s.Jobs() == 0 })
		})
	}
}

// restored is a cluster of one processor and a running attempt. Its controller can be
// restored to a state in which the attempt waited behind a local user's job.
type restored struct {
	*site
	key   batch.Key
	local string
	open  func() // ends the attempt
}

func startRestored(t *testing.T) *restored {
	t.Helper()
	t.Parallel()
	r := &restored{site: startSite(t, 1)}
	r.local = r.SubmitLocal()
	wait, open := r.Gate("go")
	r.open = open
	r.key = r.Submit(1, 1, batch.Minute, wait)
	slurmtest.Until(t, "it is in Slurm", func() bool { return r.Jobs() == 2 })
	r.Checkpoint(t)
	r.CancelLocal(r.local)
	r.AwaitPhase(r.key, batch.PhaseRunning)
	return r
}

// startAgain waits until the attempt's second start has ended.
func (r *restored) startAgain() {
	r.t.Helper()
	r.DelayPending(r.t)
	r.CancelLocal(r.local)
	slurmtest.Until(r.t, "it was started again", func() bool { return r.Jobs() == 0 })
}

// adopt opens a System with the attempt.
func (r *restored) adopt() {
	r.Open(externaltest.Adopting(batch.Shape{Width: 1, Walltime: batch.Minute}, r.key))
}

// check wants the attempt to have run once, and its second start to be reported.
func (r *restored) check(end batch.End) {
	r.t.Helper()
	r.AwaitEnd(r.key, end)
	slurmtest.Until(r.t, "it is reported", func() bool { return r.Reported(r.key) > 0 })
	slurmtest.Until(r.t, "it has left Slurm", func() bool { return r.Jobs() <= 1 })
	if n := r.Reported(r.key); n > 2 {
		r.t.Errorf("reported %d times", n)
	}
}

// The controller kills the processes that it finds on the node.
func TestARunningAttemptThatSlurmQueuesAgainIsLost(t *testing.T) {
	r := startRestored(t)
	r.Crash(r.t)
	r.check(batch.EndLost)
}

func TestAnAttemptThatSlurmStartsTwiceBetweenPollsIsLost(t *testing.T) {
	r := startRestored(t)
	r.StopServer()
	r.Crash(r.t)
	r.startAgain()
	r.adopt()
	r.check(batch.EndLost)
}

func TestAnAttemptThatSlurmStartsAgainAfterItsEndIsDone(t *testing.T) {
	r := startRestored(t)
	r.open()
	r.AwaitPhase(r.key, batch.PhaseEnded)
	r.Crash(r.t)
	r.check(batch.EndDone)
}

// The attempt ends and its second start ends between two polls.
func TestAnAttemptWhoseSecondStartNoPollShowsIsDoneAndReported(t *testing.T) {
	r := startRestored(t)
	r.StopServer()
	r.open()
	slurmtest.Until(t, "it has ended", func() bool { return r.Jobs() == 0 })
	r.Crash(r.t)
	r.startAgain()
	r.adopt()
	r.check(batch.EndDone)
}
