package counted

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// desk is a base whose events a test applies one by one.
type desk struct {
	*testing.T
	Base
}

func newDesk(t *testing.T, processors int32) *desk {
	return &desk{t, New(batch.Processors(processors))}
}

func (d *desk) turn(now batch.Time, kind batch.EventKind, spec *batch.Job) Turned {
	d.Helper()
	d.Profile.Trim(now)
	back, mine := d.Turn(now, &batch.Event{Kind: kind, Job: spec.Handle, Spec: spec})
	if !mine {
		d.Errorf("%v of job %d is not about a reservation", kind, spec.Handle)
	}
	return back
}

func (d *desk) serve(now batch.Time, want ...batch.Decision) {
	d.Helper()
	var out batch.Decisions
	d.Serve(now, &out)
	if diff := cmp.Diff(want, out.List); diff != "" {
		d.Errorf("at %d (-want +got):\n%s", now, diff)
	}
}

func (d *desk) free(now batch.Time, want int32) {
	d.Helper()
	if p := d.Profile.Free(now); d.Free != want || p != want {
		d.Errorf("at %d %d processors are free, %d in the profile, want %d", now, d.Free, p, want)
	}
}

func start(h batch.Handle) batch.Decision { return batch.Decision{Kind: batch.Start, Job: h} }
func kill(h batch.Handle) batch.Decision  { return batch.Decision{Kind: batch.Kill, Job: h} }

func aside(h batch.Handle, width int32, from, to batch.Time) *batch.Job {
	return &batch.Job{Handle: h, Shape: batch.Shape{Width: width}, Window: &batch.Window{Start: from, End: to}}
}

func into(window, h batch.Handle, width int32, d batch.Duration) *batch.Job {
	return &batch.Job{Handle: h, Shape: batch.Shape{Width: width, Walltime: d}, Into: window}
}

func TestOnlyOverrunningJobsAreKilledAndHoldTheirProcessorsUntilTheyEnd(t *testing.T) {
	d := newDesk(t, 4)
	w, long, short, late := aside(1, 3, 10, 20), into(1, 2, 2, 10), into(1, 3, 1, 4), into(1, 4, 1, 7)
	d.turn(0, batch.Reserve, w)
	d.turn(0, batch.Submit, long)
	d.turn(0, batch.Submit, short)
	d.serve(0)
	d.free(0, 4)
	d.turn(10, batch.WindowOpen, w)
	d.serve(10, start(2), start(3))
	d.free(10, 1)
	d.turn(14, batch.Finish, short)
	d.turn(14, batch.Submit, late)
	d.serve(14)
	if back := d.turn(20, batch.WindowClose, w); back.Broke || !back.Outside {
		t.Errorf("closed: %+v", back)
	}
	if d.Free != 2 {
		t.Errorf("%d processors are free, want 4 without those of job 2", d.Free)
	}
	d.serve(20, kill(2))
	if d.NextServe() > 20 {
		t.Error("no further pass was requested after the kill")
	}
	d.serve(20)
	d.turn(20, batch.Finish, long)
	d.free(20, 4)
	d.turn(21, batch.Cancel, late)
	if d.Job(4).State != Absent || d.Job(1).State != Absent {
		t.Error("job 4 or its reservation still exists")
	}
}

// The remaining processors go to the reservation.
func TestAReservationOpensWithLessWhileNodesAreDown(t *testing.T) {
	d := newDesk(t, 4)
	w, a, b := aside(1, 3, 10, 20), into(1, 2, 2, 5), into(1, 3, 1, 5)
	d.turn(0, batch.Reserve, w)
	d.turn(0, batch.Submit, a)
	d.turn(0, batch.Submit, b)
	for node := range int32(2) {
		d.SwitchNode(5, node, false)
	}
	d.turn(10, batch.WindowOpen, w)
	d.free(10, -1)
	d.serve(10, start(2))
	d.serve(12)
	d.SwitchNode(13, 0, true)
	d.serve(13, start(3))
}

func TestAReservationThatClosesLateIsBookedForLonger(t *testing.T) {
	d := newDesk(t, 4)
	w := aside(1, 3, 10, 20)
	d.turn(0, batch.Reserve, w)
	if d.Settle(12, 0) || !d.Settled(12, 0) {
		t.Error("the reservation is late before it opens")
	}
	d.turn(12, batch.WindowOpen, w)
	d.Profile.Trim(21)
	if d.Settled(21, 0) || !d.Settle(21, 0) || !d.Settled(21, 0) {
		t.Error("the late close was not noticed")
	}
	d.turn(21, batch.WindowClose, w)
	d.free(21, 4)
}

func TestARepeatedReservationCoversTheRemainingTime(t *testing.T) {
	d := newDesk(t, 4)
	w := aside(1, 3, 10, 20)
	d.Profile.Trim(15)
	d.turn(15, batch.Reserve, w)
	found := into(1, 2, 2, 6) // since 12
	d.Turn(15, &batch.Event{Kind: batch.Adopt, Job: 2, Spec: found, Since: 12})
	d.turn(15, batch.WindowOpen, w)
	d.free(15, 1)
	d.turn(15, batch.Submit, into(1, 3, 2, 2))
	d.turn(15, batch.Submit, into(1, 4, 1, 5))
	d.serve(15, start(4))
	d.turn(18, batch.Finish, found)
	d.serve(18, start(3))
	if back := d.turn(18, batch.Cancel, w); back.From != 18 || back.To != 20 {
		t.Errorf("cancelled: %+v", back)
	}
	d.serve(18, kill(4), kill(3))
}

func TestAReservationBeyondTheNodesIsKept(t *testing.T) {
	d := newDesk(t, 4)
	d.Profile.Reserve(0, 11, 2)
	if back := d.turn(0, batch.Reserve, aside(1, 3, 10, 20)); !back.Broke {
		t.Errorf("reserved: %+v", back)
	}
}

func TestJobsInAReservationAreEstimatedInItsOwnPlan(t *testing.T) {
	d := newDesk(t, 4)
	d.turn(0, batch.Reserve, aside(1, 3, 10, 20))
	d.turn(0, batch.Submit, into(1, 2, 2, 6))
	d.turn(0, batch.Submit, into(1, 3, 3, 5)) // 16-21: never
	ask := func(job *batch.Job, shapes ...batch.Shape) []batch.Time {
		var out batch.Estimate
		if !d.AnswerInside(0, &batch.Ask{Job: job, Shapes: shapes}, &out) {
			t.Fatal("no answer")
		}
		return out.Starts
	}
	want := []batch.Time{10, 16, batch.Never, batch.Never}
	got := ask(&batch.Job{Into: 1}, batch.Shape{Width: 1, Walltime: 10}, batch.Shape{Width: 2, Walltime: 4},
		batch.Shape{Width: 3, Walltime: 5}, batch.Shape{Width: 4, Walltime: 1})
	got = append(got, ask(&batch.Job{Handle: 2}, batch.Shape{Width: 2, Walltime: 6})...)
	got = append(got, ask(&batch.Job{Handle: 3}, batch.Shape{Width: 3, Walltime: 5})...)
	if diff := cmp.Diff(append(want, 10, batch.Never), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefuseRefusesOnlyWindowsAndAgreements(t *testing.T) {
	shapes := []batch.Shape{{Width: 1, Walltime: batch.Minute}, {Width: 2, Walltime: batch.Minute}}
	for name, tc := range map[string]struct {
		job     batch.Job
		refused bool
	}{
		"a job":                   {batch.Job{Deadline: 5}, false},
		"a window":                {batch.Job{Window: &batch.Window{Start: 5, End: 9}}, true},
		"a job inside a window":   {batch.Job{Into: 3}, true},
		"a job with an agreement": {batch.Job{Agreed: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var out batch.Estimate
			if got := Refuse(&batch.Ask{Job: &tc.job, Shapes: shapes}, &out); got != tc.refused {
				t.Fatalf("refused: %t", got)
			}
			if !tc.refused {
				return
			}
			if out.Kind != batch.Promised || len(out.Starts) != 2 || out.Starts[0] != batch.Never ||
				out.Starts[1] != batch.Never {
				t.Errorf("%+v, want no start of any shape, for sure", out)
			}
		})
	}
}
