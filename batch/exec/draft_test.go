package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// one returns an ask about a job of one shape.
func one(s batch.Shape) []batch.Ask {
	return []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{s}}}
}

func drafts(t testing.TB, s *System) batch.Draft {
	t.Helper()
	d, err := s.Draft(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// starts returns the hours from the copy to the starts of jobs; -1 for jobs that do not
// wait.
func starts(t testing.TB, d batch.Draft, names ...string) []int64 {
	t.Helper()
	keys, out, hours := make([]batch.Key, len(names)), make([]batch.Standing, len(names)), make([]int64, len(names))
	for i, n := range names {
		keys[i] = key(n)
	}
	if !d.Standing(keys, out) {
		t.Fatal("no estimate")
	}
	for i := range out {
		if hours[i] = -1; out[i].Waits {
			hours[i] = int64(out[i].Start.Sub(d.Made()).Std().Round(1e9).Hours())
		}
	}
	return hours
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestADraftHasTheWaitingJobsAsPlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := underCBF(t, newFakes())
		do(t, s, submission("runs", 4, self("exit")), submission("first", 4, self("exit")),
			submission("second", 3, self("exit")))
		do(t, s, placement("second", false, hours(4, 2)))
		do(t, s, reservation("in", 4), submission("held", 4, self("exit")))
		do(t, s, order(batch.CmdHold, "held"))
		d := drafts(t, s)
		all := []string{"runs", "first", "second", "in", "held", "nobody"}
		same(t, "at first", starts(t, d, all...), []int64{-1, 1, 2, -1, -1, -1})
		second := make([]batch.Standing, 1)
		d.Standing([]batch.Key{key("second")}, second)
		same(t, "as it was placed", fmt.Sprint(second[0].Shape, second[0].End.Sub(second[0].Start), second[0].Kind),
			"4x2h0m0s 2h0m0s PROMISED")
		for name, want := range map[string]bool{
			"runs": false, "in": false, "held": false, "nobody": false, "first": true,
		} {
			if got := d.Cancel(key(name)); got != want {
				t.Errorf("%s leaves: %v", name, got)
			}
		}
		if d.Cancel(key("first")) {
			t.Error("leaves twice")
		}
		same(t, "without the first", starts(t, d, all...), []int64{-1, -1, 1, -1, -1, -1})
		d.Submit(key("new"), &batch.Job{Shape: hours(4, 1)})
		same(t, "with a new one before the reserved one, which stays", starts(t, d, "second", "new"), []int64{1, 3})
		same(t, "in another draft", starts(t, drafts(t, s), all...), []int64{-1, 1, 2, -1, -1, -1})
		same(t, "what it is of", find(t, s, "first").Phase, batch.PhaseQueued)
	})
}

func TestAJobCanStartInADraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := underCBF(t, newFakes())
		small := submission("small", 2, self("exit"))
		small.Job.Shape = hours(2, 3)
		do(t, s, submission("runs", 2, self("exit")), submission("wide", 4, self("exit")), small)
		d := drafts(t, s)
		same(t, "behind the wide one", starts(t, d, "small"), []int64{2})
		d.Cancel(key("wide"))
		same(t, "without it", starts(t, d, "small"), []int64{-1})
		if d.Cancel(key("small")) {
			t.Error("what runs leaves")
		}
		same(t, "what really runs", find(t, s, "small").Phase, batch.PhaseQueued)
	})
}

func TestAClosingOrFaultedSystemHasNoDraft(t *testing.T) {
	p, err := easy.New(machine, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Policy: p, Launcher: newFakes(), Grace: 1})
	same(t, "a policy that does not plan, without a forecaster", drafts(t, s).Estimate(0, one(hours(1, 1)),
		make([]batch.Estimate, 1)), false)
	do(t, s, submission("runs", 4, self("exit")), submission("waits", 4, self("exit")))
	same(t, "likewise", drafts(t, s).Standing([]batch.Key{key("waits")}, make([]batch.Standing, 1)), false)
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Draft(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestAFaultedSystemHasNoDraft(t *testing.T) {
	bad := line{0, batch.Decision{Kind: batch.Start, Job: 99}}
	s := open(t, Config{Policy: newToy(4, bad), Launcher: newFakes(), Grace: 1})
	do(t, s, submission("a", 1, self("exit")))
	var fault *DecisionError
	if _, err := s.Draft(context.Background()); !errors.As(err, &fault) {
		t.Errorf("%v", err)
	}
}

// Other goroutines use copies while the system continues. The race detector checks it.
func TestDraftsAreUsedBesideTheLoop(t *testing.T) {
	for name, s := range map[string]*System{
		"cbf": under(t, cbf.New), "easy": under(t, easy.New), "fcfs": under(t, fcfs.New),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 100 {
				do(t, s, submission(fmt.Sprint("old", i), int32(1+i%4), self("exit")))
			}
			var work sync.WaitGroup
			for n := range 3 {
				d := drafts(t, s)
				work.Go(func() {
					for i := range 50 {
						d.Cancel(key(fmt.Sprint("old", 2*i+1)))
						d.Submit(batch.Key{Job: batch.JobID(fmt.Sprint("in draft", n, i))},
							&batch.Job{Shape: hours(int32(1+i%4), 1)})
						if !d.Estimate(d.Made(), one(hours(2, 1)), make([]batch.Estimate, 1)) {
							t.Error("no answer")
						}
						starts(t, d, "old7", "old8", "old99")
					}
				})
			}
			for i := range 50 {
				do(t, s, order(batch.CmdCancel, fmt.Sprint("old", 2*i)),
					submission(fmt.Sprint("new", i), 1, self("exit")))
			}
			work.Wait()
		})
	}
}

func under(t testing.TB, factory batch.Factory) *System {
	p, err := factory(machine, nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, Config{Policy: p, Forecaster: forecasts, Launcher: newFakes(), Grace: 1})
}
