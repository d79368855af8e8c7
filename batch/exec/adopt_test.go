package exec

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
)

// found is what runs already: a job of the given width on node n1 and its process.
func found(name string, width int32, walltime batch.Duration, started time.Time) (Adopted, *fake) {
	p := &fake{end: make(chan Exit, 1)}
	return Adopted{
		Key: key(name), Started: started, Process: p,
		Job:        &batch.Job{Shape: batch.Shape{Width: width, Walltime: walltime}, Name: name},
		Allocation: []batch.NodeAllocation{{Node: 0, Processors: width, Share: batch.One}},
	}, p
}

func TestAdoptedJobRunsOnUntilItsWalltimeCountedFromItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now().Add(-40 * time.Second)
		a, proc := found("a", 2, batch.Minute, begun)
		policy, err := cbf.New(machine, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, Config{Policy: policy, Launcher: newFakes(), Adopt: []Adopted{a}})
		f := find(t, s, "a")
		want := batch.Found{
			Key: key("a"), Phase: batch.PhaseRunning, Shape: a.Job.Shape, Started: begun.Truncate(time.Microsecond),
			Nodes: []string{"n1"}, Allocation: a.Allocation,
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Error(diff)
		}
		if free := snapshot(t, s).Free; free != 2 {
			t.Errorf("%d processors free, want the 2 that it has not", free)
		}
		if got := startOf(t, s); got != 20*time.Second {
			t.Errorf("a job of the whole machine starts in %v, want when the rest of its walltime is over", got)
		}
		do(t, s, submission("a", 4, self("exit"))) // known
		f = await(t, s, "a", batch.PhaseEnded)
		if ran := f.Ended.Sub(begun).Round(time.Millisecond); f.Outcome.End != batch.EndKilled || ran != 70*time.Second {
			t.Errorf("%+v after %v", f.Outcome, ran)
		}
		if diff := cmp.Diff([]syscall.Signal{term, kill}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		if free := snapshot(t, s).Free; free != 4 {
			t.Errorf("%d processors free, want all 4", free)
		}
	})
}

func TestAdoptedJobWhoseWalltimeIsOverIsEndedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, proc := found("a", 2, batch.Minute, time.Now().Add(-time.Hour))
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: newFakes(), Adopt: []Adopted{a}, Grace: batch.Hour})
		synctest.Wait()
		time.Sleep(time.Millisecond) //nolint:forbidigo // virtual time
		if diff := cmp.Diff([]syscall.Signal{term}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		proc.end <- Exit{Signal: term}
		f := await(t, s, "a", batch.PhaseEnded)
		if f.Outcome.End != batch.EndKilled || f.Outcome.Reason != "walltime of 1m0s" {
			t.Errorf("%+v", f.Outcome)
		}
		wantTold(t, s, p, "adopt a, finish a")
	})
}

func TestAdoptedJobEndsAsItEnds(t *testing.T) {
	a, proc := found("a", 2, batch.Minute, time.Now().Add(time.Hour)) // the clock was set back
	s := open(t, Config{Launcher: newFakes(), Adopt: []Adopted{a}})
	if f := find(t, s, "a"); time.Until(f.Started) > 0 {
		t.Errorf("started in %v", time.Until(f.Started))
	}
	proc.end <- Exit{Code: 3}
	f := await(t, s, "a", batch.PhaseEnded)
	if diff := cmp.Diff(batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}, f.Outcome); diff != "" {
		t.Error(diff)
	}
}

func TestWhatDoesNotFitThePlatformAnyMoreIsNotAdopted(t *testing.T) {
	for want, spoil := range map[string]func(a *Adopted){
		"job bad: allocation[0]: node n1 has no 2 processors left": func(*Adopted) {},
		"job bad: allocation[0]: node 2, the platform has 2 nodes": func(a *Adopted) { a.Allocation[0].Node = 2 },
		"job bad: allocation: none":                                func(a *Adopted) { a.Allocation = nil },
		"job bad: process: missing":                                func(a *Adopted) { a.Process = nil },
		"job good: adopted twice":                                  func(a *Adopted) { a.Key = key("good") },
		"accepted: 1..4":                                           func(a *Adopted) { a.Job.Shape.Width = 5 },
		"job: missing":                                             func(a *Adopted) { a.Job = nil },
	} {
		good, _ := found("good", 1, batch.Minute, time.Now())
		bad, _ := found("bad", 2, batch.Minute, time.Now())
		spoil(&bad)
		_, err := New(Config{Policy: newToy(4), Platform: machine, Programs: &shelf, Launcher: newFakes(), Adopt: []Adopted{good, bad}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
