package slurm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/external/externaltest"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// ledger is a cluster with accounting, with one ended job of each kind that only
// accounting still knows.
type ledger struct {
	*site
	accounting *slurmtest.Accounting
	keys       map[string]batch.Key
	ids        map[string]string
}

// openLedger runs the jobs and returns when the controller has forgotten all of them. The
// controller needs most of a minute to notice a failed node.
func openLedger(t *testing.T) *ledger {
	t.Helper()
	cfg, noMemory := slurmtest.LimitMemory(t, slurmtest.Config{
		Name: "ledger", Nodes: 5, MinJobAge: 2,
		Lines: []string{"SlurmdTimeout=10", "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE"},
		Partitions: []string{
			"PartitionName=main Nodes=ALL Default=YES DefaultTime=60 PriorityTier=1 PreemptMode=CANCEL",
			"PartitionName=again Nodes=ALL DefaultTime=60 PriorityTier=1 PreemptMode=REQUEUE",
			"PartitionName=urgent Nodes=ALL DefaultTime=60 PriorityTier=9 PreemptMode=OFF",
		},
	})
	a, clusters := slurmtest.StartAccounted(t, cfg)
	s := newSite(t, clusters[0])
	s.StopServer()
	l := &ledger{site: s, accounting: a, keys: make(map[string]batch.Key), ids: make(map[string]string)}
	node := func(i int) string { return fmt.Sprintf("--nodelist=%sn%d", cfg.Name, i) }
	l.add("TIMEOUT", "sleep 600", node(1), "--time=1")
	l.add("NODE_FAIL", "sleep 600", node(2))
	l.add("PREEMPTED", "sleep 600", node(3))
	l.add("PREEMPTED again", "sleep 600", node(4), "--partition=again")
	l.begun("TIMEOUT", "NODE_FAIL", "PREEMPTED", "PREEMPTED again")
	l.KillNode(1)
	l.Run(t, "scontrol", "update", "JobId="+l.ids["TIMEOUT"], "EndTime=now") // earlier than its time limit
	l.Run(t, "sbatch", "-o", "/dev/null", "-p", "urgent", "-N", "2", "-n", "2", "-w",
		fmt.Sprintf("%[1]sn3,%[1]sn4", cfg.Name), "--wrap", "true")
	l.add("COMPLETED", "true", node(5))
	l.add("FAILED", "exit 7", node(5))
	l.add("signal", "kill -9 $$", node(5))
	l.add("CANCELLED", "sleep 600", node(5))
	l.begun("CANCELLED")
	l.Run(t, "scancel", l.ids["CANCELLED"])
	l.add("held", "true", node(5), "--hold")
	l.Run(t, "scancel", l.ids["held"])
	if noMemory == "" {
		l.add("OUT_OF_MEMORY", "head -c 400m /dev/zero | tail -n 1 > /dev/null", node(5), "--mem=40")
	} else {
		t.Log("OUT_OF_MEMORY IS NOT TESTED: " + noMemory)
	}
	l.within(3*time.Minute, "the controller has forgotten all jobs", func() bool {
		return l.Run(t, "squeue", "-h", "-t", "all", "-o", "%i %T") == ""
	})
	return l
}

// add submits a job as a System would, with options.
func (l *ledger) add(kind, do string, options ...string) {
	l.t.Helper()
	key := externaltest.AttemptOf(len(l.keys) + 1)
	l.SetScript(key, do)
	script, err := l.Script(key, batch.Shape{})
	if err != nil {
		l.t.Fatal(err)
	}
	file := l.File(key, "sh")
	if err := os.WriteFile(file, script.Text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	args := append([]string{
		"sbatch", "--parsable", "--no-requeue", "--chdir=" + l.Dir, "-o", "/dev/null",
		"--job-name=" + external.Name(key), "--comment=" + external.Comment("a", key, "bob"),
	}, options...)
	l.keys[kind], l.ids[kind] = key, l.Run(l.t, append(args, file)...)
}

// begun waits until jobs have begun.
func (l *ledger) begun(kinds ...string) {
	l.t.Helper()
	for _, kind := range kinds {
		slurmtest.Until(l.t, kind+" has begun", func() bool { return l.Runs(l.keys[kind]) == 1 })
	}
}

func (l *ledger) within(limit time.Duration, what string, holds func() bool) {
	l.t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			l.t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// records returns the cluster with what History reads.
func (l *ledger) records(database bool, jobComp string) *Cluster {
	c := New(Config{Conf: l.Conf(), Timeout: 2 * time.Second})
	c.database, c.jobComp = database, jobComp
	return c
}

// adopt opens a System with jobs, with accounting and without a file of completed jobs.
func (l *ledger) adopt(change func(*external.Config), kinds ...string) {
	l.t.Helper()
	l.Restart(func(c *external.Config) {
		c.Cluster = l.records(true, "")
		for _, kind := range kinds {
			externaltest.Adopting(batch.Shape{Width: 1, Walltime: batch.Minute}, l.keys[kind])(c)
		}
		if change != nil {
			change(c)
		}
	})
}

func TestAccountingHasTheOutcomesOfForgottenJobs(t *testing.T) {
	t.Parallel() // it waits most of the time
	l := openLedger(t)
	t.Run("History returns their records", l.testHistory)
	t.Run("a restarted server reports them", l.testRestart)
	t.Run("without accounting other records count", l.testWithoutAccounting)
}

func (l *ledger) testHistory(t *testing.T) {
	c := l.records(true, "")
	var ids []string
	for _, id := range l.ids {
		ids = append(ids, id)
	}
	records, err := c.History(t.Context(), ids, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	byKey := make(map[batch.Key]external.Record)
	for _, e := range records {
		key, ok := external.Identify("a", e.Name, e.Comment)
		if !ok || !strings.HasPrefix(e.Comment, "drover:1:a:") {
			t.Errorf("not identified: %+v", e)
		}
		byKey[key] = e
	}
	state := map[string]string{"PREEMPTED again": "PREEMPTED", "signal": "FAILED", "held": "CANCELLED"}
	for kind, key := range l.keys {
		want := state[kind]
		if want == "" {
			want = kind
		}
		e := byKey[key]
		if e.State != want || e.ID != l.ids[kind] || !e.Over() || e.End.IsZero() ||
			kind != "held" && e.Start.IsZero() ||
			(e.Nodes == nil) != (kind == "held") {
			t.Errorf("%s: %+v", kind, e)
		}
	}
	if e := byKey[l.keys["FAILED"]]; e.Code != 7 || e.Signal != "" {
		t.Errorf("exit status 7 is %+v", e)
	}
	if e := byKey[l.keys["signal"]]; e.Code != 0 || e.Signal != "SIGKILL" {
		t.Errorf("SIGKILL is %+v", e)
	}
	// By name sacct only finds jobs that could be started.
	byName, err := c.History(t.Context(), nil,
		[]string{external.Name(l.keys["TIMEOUT"]), external.Name(l.keys["held"]), "unknown"}, false)
	if err != nil || len(byName) != 1 || byName[0].State != "TIMEOUT" {
		t.Errorf("by name: %+v, %v", byName, err)
	}
}

func (l *ledger) testRestart(t *testing.T) {
	type outcome struct {
		end    batch.End
		reason string
	}
	wants := map[string]outcome{
		"COMPLETED": {batch.EndDone, ""},
		"FAILED":    {batch.EndFailed, "exit status 7"},
		"signal":    {batch.EndFailed, "signal SIGKILL"},
		"TIMEOUT":   {batch.EndKilled, "walltime"},
		"CANCELLED": {batch.EndCancelled, "another user"},
		"NODE_FAIL": {batch.EndLost, "node failed"},
		"PREEMPTED": {batch.EndLost, "preempted"}, "PREEMPTED again": {batch.EndLost, "preempted"},
	}
	if _, ok := l.keys["OUT_OF_MEMORY"]; ok {
		wants["OUT_OF_MEMORY"] = outcome{batch.EndFailed, "out of memory"}
	}
	var kinds []string
	for kind := range wants {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for name, files := range map[string]external.AttemptFiles{"Slurm's record": nil, "both records": l.Site} {
		l.adopt(func(c *external.Config) { c.Files = files }, kinds...)
		for _, kind := range kinds {
			f, want := l.AwaitPhase(l.keys[kind], batch.PhaseEnded), wants[kind]
			if f.Outcome.End != want.end || !strings.Contains(f.Outcome.Reason, want.reason) || f.Started.IsZero() ||
				!f.Ended.After(f.Started.Add(-time.Second)) || len(f.Nodes) != 1 {
				t.Errorf("by %s %s is %+v", name, kind, f)
			}
			if n := l.Runs(l.keys[kind]); n != 1 {
				t.Errorf("%s ran %d times", kind, n)
			}
		}
	}
}

func (l *ledger) testWithoutAccounting(t *testing.T) {
	l.accounting.Down()
	ids, names := []string{l.ids["TIMEOUT"]}, []string{external.Name(l.keys["TIMEOUT"])}
	var silent *external.AccountingError
	withFile := l.records(true, l.JobComp())
	if records, err := withFile.History(t.Context(), ids, names, false); !errors.As(err, &silent) ||
		len(records) != 1 ||
		records[0].State != "TIMEOUT" {
		t.Errorf("by the file of completed jobs: %+v, %v", records, err)
	}
	// The record of an attempt suffices. An attempt that was killed has not recorded its
	// end, and stays as it is.
	counting := &externaltest.Counting{Cluster: l.records(true, "")}
	l.adopt(func(c *external.Config) { c.Cluster = counting }, "FAILED", "TIMEOUT")
	if f := l.AwaitPhase(l.keys["FAILED"], batch.PhaseEnded); f.Outcome.ExitCode != 7 {
		t.Errorf("by its own record: %+v", f)
	}
	slurmtest.Until(t, "many polls have missed it", func() bool { return counting.Polls.Load() > 8 })
	if f := l.State(l.keys["TIMEOUT"]); f.Phase == batch.PhaseEnded {
		t.Errorf("an outcome without any record of it: %+v", f)
	}
	// The file of completed jobs has it.
	l.adopt(func(c *external.Config) { c.Cluster = withFile }, "TIMEOUT")
	if f := l.AwaitPhase(l.keys["TIMEOUT"], batch.PhaseEnded); f.Outcome.End != batch.EndKilled {
		t.Errorf("by the file of completed jobs: %+v", f)
	}
	// The wait for accounting is limited.
	l.adopt(func(c *external.Config) { c.Stale = time.Second }, "TIMEOUT")
	before := l.Reported(l.keys["TIMEOUT"])
	if f := l.AwaitPhase(l.keys["TIMEOUT"], batch.PhaseEnded); f.Outcome.End != batch.EndLost ||
		!strings.Contains(f.Outcome.Reason, "forgotten") {
		t.Errorf("after the wait: %+v", f)
	}
	if l.Reported(l.keys["TIMEOUT"]) == before {
		t.Error("the missing record is not reported")
	}
	// Accounting comes back during the wait.
	counting = &externaltest.Counting{Cluster: l.records(true, "")}
	l.adopt(func(c *external.Config) { c.Cluster = counting }, "TIMEOUT")
	slurmtest.Until(t, "some polls have missed it", func() bool { return counting.Polls.Load() > 5 })
	if err := l.accounting.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := l.AwaitPhase(l.keys["TIMEOUT"], batch.PhaseEnded); f.Outcome.End != batch.EndKilled {
		t.Errorf("after the return of accounting: %+v", f)
	}
}
