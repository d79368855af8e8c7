package dynp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

func tuned(t *testing.T, s batch.Settings, processors int32, jobs ...job) dynp.Tuning {
	t.Helper()
	p, err := dynp.New(batch.Processors(processors), s)
	if err != nil {
		t.Fatal(err)
	}
	play(p, batch.Processors(processors), jobs, nil)
	return p.(*dynp.Policy).Tuning()
}

// Responses are 2+6+8 (FCFS), 2+4+8 (SJF), 4+6+8 (LJF). At 2 jobs 2 and 3 wait; at 4 job 2 can
// start, and there is no step.
func TestSwitchesRecordTheirValues(t *testing.T) {
	got := tuned(t, batch.Settings{"metric": "ART"}, 3, job{0, 0, 3, 2, 2}, job{0, 0, 3, 4, 4}, job{0, 0, 3, 2, 2})
	want := dynp.Tuning{
		Active: "SJF", Metrics: []string{"ART"}, Steps: 2, Switches: 1,
		Policies: []dynp.Count{{Policy: "FCFS"}, {Policy: "SJF", Switches: 1, Started: 3}, {Policy: "LJF"}},
		Cases: []dynp.Case{
			{Active: "FCFS", Best: []string{"SJF"}, Steps: 1},
			{Active: "SJF", Best: []string{"SJF"}, Steps: 1},
		},
		Last: []dynp.Switch{{At: 0, From: "FCFS", To: "SJF", Waiting: 3, Values: []dynp.Value{
			{Policy: "FCFS", Metrics: []float64{16. / 3}},
			{Policy: "SJF", Metrics: []float64{14. / 3}},
			{Policy: "LJF", Metrics: []float64{18. / 3}},
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FCFS 16 and SJF 14 differ by a seventh of 14.
func TestPlansWithinTheThresholdAreEqual(t *testing.T) {
	for equal, want := range map[string]int{"0.142857": 1, "0.142858": 0} {
		got := tuned(t, batch.Settings{"metric": "ART", "equal": equal}, 3, job{0, 0, 3, 2, 2}, job{0, 0, 3, 4, 4},
			job{0, 0, 3, 2, 2})
		if len(got.Last) > 0 && got.Last[0].At == 0 != (want == 1) || want == 1 && len(got.Last) == 0 {
			t.Errorf("equal=%s: %+v", equal, got.Last)
		}
	}
}

// A job that fits into no plan, because the machine is too small now, must not make all plans
// equal.
func TestAJobWithoutASlotDoesNotStopTheTuning(t *testing.T) {
	made, err := dynp.New(batch.Processors(4), batch.Settings{"metric": "ART"})
	if err != nil {
		t.Fatal(err)
	}
	p := made.(*dynp.Policy)
	submit := func(h batch.Handle, width int32, wall int) {
		p.Apply(0, &batch.Event{
			Kind: batch.Submit, Job: h,
			Spec: &batch.Job{Handle: h, Shape: batch.Shape{Width: width, Walltime: batch.Duration(at(wall))}},
		})
	}
	p.Apply(0, &batch.Event{Kind: batch.NodeDown, Node: 0})
	submit(1, 4, 1)
	submit(2, 3, 4)
	submit(3, 3, 2)
	p.Decide(0, &batch.Decisions{})
	got := p.Tuning()
	if got.Active != "SJF" || got.Last[0].Values[1].Unplaced != 1 || got.Last[0].Values[1].Metrics[0] != 4 {
		t.Errorf("%+v", got)
	}
}

// The last switches are kept, the oldest first.
func TestOnlyTheLastSwitchesAreKept(t *testing.T) {
	var jobs []job
	for i := range 3 * dynp.MaxSwitches {
		jobs = append(jobs, job{20 * i, 0, 3, 2, 2}, job{20 * i, 0, 3, 4, 4}, job{20 * i, 0, 3, 2, 2},
			job{20*i + 10, 0, 3, 2, 2}, job{20*i + 10, 0, 3, 2, 2}) // every order gives the same values: FCFS
	}
	got := tuned(t, batch.Settings{"metric": "ART", "decider": "simple"}, 3, jobs...)
	if len(got.Last) != dynp.MaxSwitches || got.Switches <= dynp.MaxSwitches {
		t.Fatalf("%d of %d switches are kept", len(got.Last), got.Switches)
	}
	for i := range len(got.Last) - 1 {
		if got.Last[i].At >= got.Last[i+1].At || got.Last[i].To != got.Last[i+1].From {
			t.Fatalf("%+v is followed by %+v", got.Last[i], got.Last[i+1])
		}
	}
}

// The search stops at a plan that can no longer win, which then has no value.
func TestAPrunedPlanIsReportedAsWorse(t *testing.T) {
	got := tuned(t, batch.Settings{"metric": "ART"}, 3, job{0, 0, 3, 1, 1}, job{0, 0, 3, 90, 90}, job{0, 0, 3, 1, 1},
		job{0, 0, 3, 1, 1})
	want := []dynp.Value{
		{Policy: "FCFS", Metrics: []float64{(1 + 91 + 92 + 93) / 4.}},
		{Policy: "SJF", Metrics: []float64{(1 + 2 + 3 + 93) / 4.}},
		{Policy: "LJF", Worse: true},
	}
	if diff := cmp.Diff(want, got.Last[0].Values); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
