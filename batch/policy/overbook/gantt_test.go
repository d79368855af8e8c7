package overbook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// quarter shortens estimates of user u to four fifths: 10 s become 8 s, 5 s become 4 s.
var quarter = batch.Settings{"maxPoF": "0.25", "distribution": "uniform", "round": "1s"}

func cancel(at int, h batch.Handle) act {
	return act{at, func(_ *diary, e *engine.Engine) { e.Apply(&batch.Event{Kind: batch.Cancel, Job: h}) }}
}

// aside reserves a window and submits a job that uses all of it.
func aside(at int, w, inside batch.Handle, width, from, to int) act {
	return act{at, func(d *diary, e *engine.Engine) {
		spec := &batch.Job{
			Handle: w, Shape: batch.Shape{Width: int32(width)}, Window: &batch.Window{
				Start: d.time(from), End: d.time(to),
			},
		}
		e.Apply(&batch.Event{Kind: batch.Reserve, Job: w, Spec: spec})
		e.Submit(&batch.Job{Handle: inside, Into: w, Shape: batch.Shape{
			Width: int32(width), Walltime: d.duration(to - from),
		}}, d.duration(to-from))
	}}
}

// Job 2 needs 10 s and has 8 s before the window.
//
//	22222222wwwww          22222222wwwww22vvvvv
//	22222222wwwww          22222222wwwww22vvvvv
//	0       8    13        0       8    13
//	  killed                 paused: the rest fits between two windows
func TestAWindowIsNeverShortened(t *testing.T) {
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		aside(0, 1, 9, 2, 8, 13), submit(0, job{h: 2, width: 2, estimate: 10, due: 10}))
	d.want(t, "0 start 2", "8 kill 2", "8 start 9", "13 end 9")
	d = perform(t, policy(t, 2, quarter), 2, batch.Second,
		aside(0, 1, 9, 2, 8, 13), aside(0, 3, 8, 2, 15, 20),
		submit(0, job{h: 2, width: 2, estimate: 10, due: 10, checkpoint: true}))
	d.want(t, "0 start 2", "8 pause 2", "8 start 9", "13 end 9", "13 resume 2", "15 end 2", "15 start 8", "20 end 8")
	if c := d.Counts(); c.LateEnd != 1 || c.Paused != 1 {
		t.Errorf("%+v", c)
	}
}

// Only a window ends at 5, and windows cannot be counted on; otherwise the job would fit from 4
// on.
func TestAWindowIsNeverCountedOn(t *testing.T) {
	late := job{h: 4, width: 2, estimate: 10, due: 14}
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		aside(0, 1, 9, 2, 0, 5), aside(0, 2, 8, 2, 12, 20), ask(0, late))
	d.want(t, "offer never", "0 start 9", "5 end 9", "12 start 8", "20 end 8")
}

// The job after job 2 is cancelled while 2 runs: job 2 continues.
func TestAJobContinuesWhileItsProcessorsAreNotNeeded(t *testing.T) {
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 5, from: 8, due: 13, honest: true}),
		submit(0, job{h: 2, width: 2, estimate: 10, due: 9}), cancel(3, 1))
	d.want(t, "0 start 2", "10 end 2")
	if c := d.Counts(); c.Extended != 1 || c.Cut != 1 || c.LateEnd != 1 {
		t.Errorf("%+v", c)
	}
}

// The job after job 2 is cancelled before 2 starts: job 2 is then booked for all of its time,
// and job 4, which comes later, must wait until 15.
func TestAnOverbookedJobGetsTheTimeThatBecomesFreeBehindIt(t *testing.T) {
	last := job{h: 4, width: 2, estimate: 3, honest: true, due: 99}
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 3, width: 2, estimate: 5, honest: true}),
		submit(0, job{h: 1, width: 2, estimate: 5, from: 13, due: 18, honest: true}),
		submit(0, job{h: 2, width: 2, estimate: 10, due: 15}),
		ask(0, last), cancel(3, 1), ask(3, last))
	d.want(t, "0 start 3", "offer 18-21 PROMISED", "offer 15-18 PROMISED", "5 end 3", "5 start 2", "15 end 2")
	if c := d.Counts(); c.Straightened != 1 || c.Cut != 0 || c.Outran != 1 {
		t.Errorf("%+v", c)
	}
}

// Jobs 1 and 2 end at 10 and have 2 s and 1 s to spare; from 17 on all processors are taken. A
// narrow job counts on job 1 alone; a wide one counts on both, and begins later.
//
//	11111111110      333
//	11111111110      333   narrow: 8-16     wide: 9-17
//	xxxxx22222       333
//	xxxxx22222       333
func TestAJobCountsOnTheFewestPredecessorsWithTheMostSpareTime(t *testing.T) {
	plan := func() []act {
		return []act{
			submit(0, job{h: 1, width: 2, estimate: 10}), submit(0, job{h: 5, width: 2, estimate: 5, honest: true}),
			submit(0, job{h: 2, width: 2, estimate: 5}),
			submit(0, job{h: 3, width: 4, estimate: 3, from: 17, due: 20, honest: true}),
		}
	}
	narrow, wide := job{h: 6, width: 2, estimate: 10, due: 18}, job{h: 7, width: 4, estimate: 10, due: 18}
	d := perform(t, policy(t, 4, quarter), 4, batch.Second, append(plan(), ask(0, narrow), ask(0, wide))...)
	d.want(t, "0 start 1", "0 start 5", "offer 8-16 PROBABLE 0.562", "offer 9-17 PROBABLE 0.500",
		"5 end 5", "5 start 2", "10 end 1", "10 end 2", "17 start 3", "20 end 3")
	// A job cannot count on time that another job counts on.
	d = perform(t, policy(t, 4, quarter), 4, batch.Second, append(plan(),
		submit(0, narrow), ask(0, narrow), submit(0, job{h: 8, width: 2, estimate: 10, due: 18}), ask(0, wide))...)
	d.want(t, "0 start 1", "0 start 5", "offer 9-17 PROBABLE 0.500", "offer never",
		"5 end 5", "5 start 2", "10 end 1", "10 end 2", "10 start 6", "10 start 8",
		"17 kill 6", "17 kill 8", "17 start 3", "20 end 3")
}

// User u has needed at most 75% in three of four jobs.
func TestTheEmpiricalCutIsTheLargestWithinMaxPoF(t *testing.T) {
	set := batch.Settings{"maxPoF": "0.25", "round": "1s"}
	j := job{h: 2, width: 2, estimate: 100, due: 100}
	for _, c := range []struct {
		window int
		want   string
	}{{75, "offer 0-75 PROBABLE 0.750"}, {74, "offer never"}} {
		d := perform(t, policy(t, 2, set), 2, batch.Second, aside(0, 1, 9, 2, c.window, 200), ask(0, j))
		if d.lines[0] != c.want {
			t.Errorf("a window from %d on: %s, want %s", c.window, d.lines[0], c.want)
		}
	}
}

func TestUsersWithoutSamplesAreNotOverbooked(t *testing.T) {
	short := job{h: 2, width: 2, estimate: 10, due: 12}
	p := policy(t, 2, quarter)
	for range 19 { // one fewer than needed
		p.Learn("honest", "", 10, 5)
	}
	short.honest = true
	d := perform(t, p, 2, batch.Second, aside(0, 1, 9, 2, 8, 13), ask(0, short))
	d.want(t, "offer never", "8 start 9", "13 end 9")
	p.Learn("honest", "", 10, 5)
	var out [1]batch.Estimate
	ask := []batch.Ask{{Job: short.spec(d), Shapes: []batch.Shape{{Width: 2, Walltime: 10 * batch.Second}}}}
	ask[0].Job.Handle = batch.NoJob
	p = policy(t, 2, quarter)
	for range 20 {
		p.Learn("honest", "", 10, 10)
	}
	p.Estimate(0, ask, out[:])
	if out[0].Kind != batch.Promised {
		t.Errorf("estimate for a user with accurate estimates: %v", out[0].Kind)
	}
}

// A job without an agreement or a checkpoint gains nothing from being shortened, and keeps its
// time, unless all jobs are to be shortened.
func TestOrdinaryJobsAreNotShortened(t *testing.T) {
	acts := []act{aside(0, 1, 9, 2, 8, 13), ask(0, job{h: 2, width: 2, estimate: 10})}
	d := perform(t, policy(t, 2, quarter), 2, batch.Second, acts...)
	d.want(t, "offer 13-23 PROMISED", "8 start 9", "13 end 9")
	set := batch.Settings{"maxPoF": "0.25", "distribution": "uniform", "round": "1s", "shorten": "all"}
	d = perform(t, policy(t, 2, set), 2, batch.Second, acts...)
	d.want(t, "offer 0-8 PROBABLE 0.750", "8 start 9", "13 end 9")
}

// With when=needed a later slot for the whole estimate is used if it ends in time.
func TestWhenNeededAvoidsOverbooking(t *testing.T) {
	set := batch.Settings{"maxPoF": "0.25", "distribution": "uniform", "round": "1s", "when": "needed"}
	for due, want := range map[int]string{23: "offer 13-23 PROMISED", 22: "offer 0-8 PROBABLE 0.750"} {
		d := perform(t, policy(t, 2, set), 2, batch.Second, aside(0, 1, 9, 2, 8, 13),
			ask(0, job{h: 2, width: 2, estimate: 10, due: due}))
		if d.lines[0] != want {
			t.Errorf("due at %d: %s, want %s", due, d.lines[0], want)
		}
	}
}

// Jobs of the honest user run a quarter longer than estimated: they get 10 s for 8 s, if they
// then still end in time.
func TestJobsOfUnderestimatingUsersGetLongerSlots(t *testing.T) {
	teach := func(p *overbook.Policy) *overbook.Policy {
		for range 20 {
			p.Learn("honest", "", 8, 10)
		}
		return p
	}
	next := job{h: 3, width: 2, estimate: 5, due: 99, honest: true}
	d := perform(t, teach(policy(t, 2, quarter)), 2, batch.Second,
		submit(0, job{h: 2, width: 2, estimate: 8, honest: true}), ask(0, next))
	d.want(t, "0 start 2", "offer 10-15 PROMISED", "8 end 2")
	d = perform(t, teach(policy(t, 2, quarter)), 2, batch.Second, aside(0, 1, 9, 2, 9, 20),
		ask(0, job{h: 2, width: 2, estimate: 8, due: 15, honest: true}),
		ask(0, job{h: 2, width: 2, estimate: 8, due: 40, honest: true}))
	d.want(t, "offer 0-8 PROMISED", "offer 20-28 PROMISED", "9 start 9", "20 end 9")
}

func TestSettlementsNameThePayer(t *testing.T) {
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 5, runs: 4, due: 5}),
		submit(0, job{h: 2, width: 2, estimate: 5, due: 11}),
		aside(0, 3, 9, 2, 13, 20),
		submit(0, job{h: 4, width: 2, estimate: 5, due: 15}))
	d.want(t, "0 start 1", "4 end 1", "4 start 2", "9 end 2", "9 start 4", "13 kill 4", "13 start 9", "20 end 9")
	want := []overbook.Settlement{
		{Job: 1, Verdict: overbook.Kept, Ran: 4 * batch.Second},
		{Job: 2, Verdict: overbook.Outran, Ran: 5 * batch.Second},
		{Job: 4, Verdict: overbook.Shortened, Ran: 4 * batch.Second},
	}
	if diff := cmp.Diff(want, d.Settlements(nil)); diff != "" {
		t.Error(diff)
	}
	if len(d.Settlements(nil)) != 0 {
		t.Error("settlements are reported twice")
	}
	for v, pays := range map[overbook.Verdict]bool{
		overbook.Kept: false, overbook.Outran: false, overbook.Shortened: true, overbook.Late: true,
	} {
		if v.Provider() != pays {
			t.Errorf("%v: the provider pays: %t", v, v.Provider())
		}
	}
}
