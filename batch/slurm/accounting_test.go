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
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// ledger is a cluster with accounting whose controller forgets jobs at once, and jobs
// of every kind of end that nobody but accounting knows.
type ledger struct {
	*site
	accounting *slurmtest.Accounting
	keys       map[string]batch.Key
	ids        map[string]string
}

// openLedger runs the jobs and returns when the controller has forgotten all of them.
// It takes the better part of a minute to notice a node that is gone.
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
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := &ledger{site: s, accounting: a, keys: make(map[string]batch.Key), ids: make(map[string]string)}
	node := func(i int) string { return fmt.Sprintf("--nodelist=%sn%d", cfg.Name, i) }
	l.run("TIMEOUT", "sleep 600", node(1), "--time=1")
	l.run("NODE_FAIL", "sleep 600", node(2))
	l.run("PREEMPTED", "sleep 600", node(3))
	l.run("PREEMPTED again", "sleep 600", node(4), "--partition=again")
	l.begun("TIMEOUT", "NODE_FAIL", "PREEMPTED", "PREEMPTED again")
	l.cluster.KillNode(1)
	l.cluster.Run(t, "scontrol", "update", "JobId="+l.ids["TIMEOUT"], "EndTime=now") // which is sooner than its minute
	l.cluster.Run(t, "sbatch", "-o", "/dev/null", "-p", "urgent", "-N", "2", "-n", "2", "-w", fmt.Sprintf("%[1]sn3,%[1]sn4", cfg.Name), "--wrap", "true")
	l.run("COMPLETED", "true", node(5))
	l.run("FAILED", "exit 7", node(5))
	l.run("signal", "kill -9 $$", node(5))
	l.run("CANCELLED", "sleep 600", node(5))
	l.begun("CANCELLED")
	l.cluster.Run(t, "scancel", l.ids["CANCELLED"])
	l.run("held", "true", node(5), "--hold")
	l.cluster.Run(t, "scancel", l.ids["held"])
	if noMemory == "" {
		l.run("OUT_OF_MEMORY", "head -c 400m /dev/zero | tail -n 1 > /dev/null", node(5), "--mem=40")
	} else {
		t.Log("OUT_OF_MEMORY IS NOT TESTED: " + noMemory)
	}
	l.within(3*time.Minute, "the controller has forgotten all jobs", func() bool {
		return l.cluster.Run(t, "squeue", "-h", "-t", "all", "-o", "%i %T") == ""
	})
	return l
}

// run submits a job as the system would, with options.
func (l *ledger) run(kind, do string, options ...string) {
	l.t.Helper()
	key := attemptOf(len(l.keys) + 1)
	l.scripts[key.Job] = do
	script, err := l.Script(key, batch.Shape{})
	if err != nil {
		l.t.Fatal(err)
	}
	file := l.file(key, "sh")
	if err := os.WriteFile(file, script.Text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	args := append([]string{"sbatch", "--parsable", "--no-requeue", "--chdir=" + l.dir, "-o", "/dev/null", "--job-name=" + Name(key), "--comment=" + comment("a", key, "bob")}, options...)
	l.keys[kind], l.ids[kind] = key, l.cluster.Run(l.t, append(args, file)...)
}

// begun waits until jobs have.
func (l *ledger) begun(kinds ...string) {
	l.t.Helper()
	for _, kind := range kinds {
		slurmtest.Until(l.t, kind+" has begun", func() bool { return l.runs(l.keys[kind]) == 1 })
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

// adopt opens a system that has been told of jobs, with accounting and without a file
// of completed jobs.
func (l *ledger) adopt(change func(*Config), kinds ...string) {
	l.t.Helper()
	l.reopen(func(c *Config) {
		c.Commands.Database, c.Commands.JobComp = true, ""
		for _, kind := range kinds {
			c.Adopt = append(c.Adopt, Adopted{Key: l.keys[kind], Job: &batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}})
		}
		if change != nil {
			change(c)
		}
	})
}

func TestHowJobsEndedIsReadFromAccounting(t *testing.T) {
	t.Parallel() // it waits most of the time
	l := openLedger(t)
	t.Run("in its own words", l.isReadInItsOwnWords)
	t.Run("by a system that starts again", l.isFoundOutByASystemThatStartsAgain)
	t.Run("or from what else there is", l.isFoundOutWithoutAccounting)
}

func (l *ledger) isReadInItsOwnWords(t *testing.T) {
	c := Commands{Conf: l.cluster.Conf(), Database: true}
	var ids []string
	for _, id := range l.ids {
		ids = append(ids, id)
	}
	told, err := c.Past(t.Context(), ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	byKey := make(map[batch.Key]Ended)
	for _, e := range told {
		key, ok := identify("a", e.Name, e.Comment)
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
		if e.State != want || e.ID != l.ids[kind] || !e.Over() || e.End.IsZero() || kind != "held" && e.Start.IsZero() || (e.NodeList == "") != (kind == "held") {
			t.Errorf("%s: %+v", kind, e)
		}
	}
	if e := byKey[l.keys["FAILED"]]; e.Code != 7 || e.Signal != "" {
		t.Errorf("exit status 7 is %+v", e)
	}
	if e := byKey[l.keys["signal"]]; e.Code != 0 || e.Signal != "SIGKILL" {
		t.Errorf("SIGKILL is %+v", e)
	}
	// By name only those that could have been started are known.
	byName, err := c.Past(t.Context(), nil, []string{Name(l.keys["TIMEOUT"]), Name(l.keys["held"]), "nobody"})
	if err != nil || len(byName) != 1 || byName[0].State != "TIMEOUT" {
		t.Errorf("by name: %+v, %v", byName, err)
	}
}

func (l *ledger) isFoundOutByASystemThatStartsAgain(t *testing.T) {
	type outcome struct {
		end    batch.End
		reason string
	}
	wants := map[string]outcome{
		"COMPLETED": {batch.EndDone, ""}, "FAILED": {batch.EndFailed, "exit status 7"}, "signal": {batch.EndFailed, "signal SIGKILL"},
		"TIMEOUT": {batch.EndKilled, "walltime"}, "CANCELLED": {batch.EndCancelled, "somebody else"}, "NODE_FAIL": {batch.EndLost, "node failed"},
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
	for name, witness := range map[string]Witness{"Slurm's word": nil, "both words": l.site} {
		l.adopt(func(c *Config) { c.Witness = witness }, kinds...)
		for _, kind := range kinds {
			f, want := l.awaitPhase(l.keys[kind], batch.PhaseEnded), wants[kind]
			if f.Outcome.End != want.end || !strings.Contains(f.Outcome.Reason, want.reason) || f.Started.IsZero() || !f.Ended.After(f.Started.Add(-time.Second)) || len(f.Nodes) != 1 {
				t.Errorf("by %s %s is %+v", name, kind, f)
			}
			if n := l.runs(l.keys[kind]); n != 1 {
				t.Errorf("%s ran %d times", kind, n)
			}
		}
	}
}

func (l *ledger) isFoundOutWithoutAccounting(t *testing.T) {
	l.accounting.Down()
	ids, names := []string{l.ids["TIMEOUT"]}, []string{Name(l.keys["TIMEOUT"])}
	var silent *AccountingError
	c := Commands{Conf: l.cluster.Conf(), Database: true, JobComp: l.cluster.JobComp()}
	if told, err := c.Past(t.Context(), ids, names); !errors.As(err, &silent) || len(told) != 1 || told[0].State != "TIMEOUT" {
		t.Errorf("by the file of completed jobs: %+v, %v", told, err)
	}
	// What an attempt has written is enough; one that was killed for its limit has
	// written nothing, and nobody makes up why.
	l.adopt(nil, "FAILED", "TIMEOUT")
	if f := l.awaitPhase(l.keys["FAILED"], batch.PhaseEnded); f.Outcome.ExitCode != 7 {
		t.Errorf("by its own word: %+v", f)
	}
	looks := func() int {
		l.System.mu.Lock()
		defer l.System.mu.Unlock()
		return l.attempts[l.keys["TIMEOUT"]].missing
	}
	slurmtest.Until(t, "it was looked for many times", func() bool { return looks() > 2*enough })
	if f := l.find(l.keys["TIMEOUT"]); f.Phase == batch.PhaseEnded {
		t.Errorf("nobody can know how it has ended: %+v", f)
	}
	// With the file it is known.
	l.adopt(func(c *Config) { c.Commands.JobComp = l.cluster.JobComp() }, "TIMEOUT")
	if f := l.awaitPhase(l.keys["TIMEOUT"], batch.PhaseEnded); f.Outcome.End != batch.EndKilled {
		t.Errorf("by the file of completed jobs: %+v", f)
	}
	// It is not waited for without end.
	l.adopt(func(c *Config) { c.Stale = time.Second }, "TIMEOUT")
	before := l.reported(l.keys["TIMEOUT"])
	if f := l.awaitPhase(l.keys["TIMEOUT"], batch.PhaseEnded); f.Outcome.End != batch.EndLost || !strings.Contains(f.Outcome.Reason, "forgotten") {
		t.Errorf("after a while: %+v", f)
	}
	if l.reported(l.keys["TIMEOUT"]) == before {
		t.Error("that nobody knows how it has ended is not said")
	}
	// Accounting comes back while it is waited for.
	l.adopt(nil, "TIMEOUT")
	slurmtest.Until(t, "it was looked for", func() bool { return looks() > enough })
	if err := l.accounting.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := l.awaitPhase(l.keys["TIMEOUT"], batch.PhaseEnded); f.Outcome.End != batch.EndKilled {
		t.Errorf("by accounting that is back: %+v", f)
	}
}

// An attempt that is placed with another shape is taken out of Slurm and put in again
// under its name: how the first one ended is no word about the second.
func TestAJobThatNeverStartedCountsOnlyByItsNumber(t *testing.T) {
	s := start(t, 1)
	blocker := s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	key := s.submit(1, 1, batch.Minute, "true")
	slurmtest.Until(t, "it is in Slurm", func() bool { return s.queued() == 2 })
	number := s.cluster.Run(t, "squeue", "-h", "-o", "%i", "--name="+Name(key))
	if err := s.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.cluster.Run(t, "scancel", number)
	slurmtest.Until(t, "it is cancelled", func() bool { return s.queued() == 1 })
	for id, want := range map[string]int{number: 1, blocker: 0, "": 0} {
		known, _, err := s.enquire(t.Context(), []gone{{key: key, id: id, unsure: id == ""}})
		if err != nil || len(known) != want {
			t.Errorf("as number %q: %v, %v", id, known, err)
		}
	}
}
