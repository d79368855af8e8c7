package overbook_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// Job 3 counts on job 1, which has 2 s to spare, for the gap from 10 to 17, and is booked for 7
// s there. Job 2 ends early and leaves a gap of 7 s: less than the 8 s that job 3 needs at
// least. Job 3 stays at its slot.
//
//	111111113333333330
//	111111113333333330
//	22.......44444444
//	22.......44444444
func TestAJobThatCountsOnOthersDoesNotMoveIntoAShorterGap(t *testing.T) {
	d := perform(t, policy(t, 4, quarter), 4, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 10, runs: 8}),
		submit(0, job{h: 2, width: 2, estimate: 9, runs: 2, honest: true}),
		submit(0, job{h: 4, width: 2, estimate: 16, from: 9, due: 25, honest: true}), aside(0, 5, 9, 2, 17, 25),
		submit(0, job{h: 3, width: 2, estimate: 10, runs: 8, due: 17}),
		standing(1, job{h: 3, width: 2, estimate: 10, due: 17}))
	d.want(t, "0 start 1", "0 start 2", "stands 8-16 PROBABLE 0.562", "2 end 2", "8 end 1", "8 start 3", "9 start 4",
		"16 end 3",
		"17 start 9", "25 end 4", "25 end 9")
}

// Job 2, which came first, fits into the 2 s that job 1 leaves; but job 3 was promised them. In
// the second run a job also arrives at that instant.
//
//	11111111333333330wwwww
//	11111111333333330wwwww
//	77777777777777777777    job 2 needs three processors
//	..........4444444444
func TestPromisedTimeIsNotGivenToWaitingJobs(t *testing.T) {
	acts := []act{
		submit(0, job{h: 1, width: 2, estimate: 10, runs: 8}),
		submit(0, job{h: 7, width: 1, estimate: 20, honest: true}),
		submit(0, job{h: 4, width: 1, estimate: 10, from: 10, due: 20, honest: true}), aside(0, 5, 9, 2, 17, 20),
		submit(0, job{h: 2, width: 3, estimate: 2, honest: true}),
		submit(0, job{h: 3, width: 2, estimate: 10, runs: 8, due: 17}),
	}
	begins := []string{
		"0 start 1", "0 start 7", "8 end 1", "8 start 3", "10 start 4", "16 end 3", "17 start 9", "20 end 7",
		"20 end 4", "20 end 9", "20 start 2",
	}
	d := perform(t, policy(t, 4, quarter), 4, batch.Second, acts...)
	d.want(t, append(begins, "22 end 2")...)
	d = perform(t, policy(t, 4, quarter), 4, batch.Second,
		append(acts, submit(8, job{h: 6, width: 4, estimate: 9, honest: true}))...)
	d.want(t, append(begins, "22 end 2", "22 start 6", "31 end 6")...)
}

// Job 3 is booked from 20 to 27 and, when job 1 ends at 16, for all of its 10 s from then on:
// the last second becomes free, and job 2 fits there.
func TestUnneededBookedTimeIsReturned(t *testing.T) {
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 20, runs: 16}), aside(0, 5, 9, 2, 27, 30),
		submit(0, job{h: 3, width: 2, estimate: 10, due: 27}),
		submit(0, job{h: 2, width: 2, estimate: 1, honest: true}))
	d.want(t, "0 start 1", "16 end 1", "16 start 3", "26 end 3", "26 start 2", "27 end 2", "27 start 9", "30 end 9")
}

// A killed job would have run longer, for an unknown time.
func TestAKilledJobIsNotASampleOfAShortRuntime(t *testing.T) {
	p := policy(t, 2, batch.Settings{"maxPoF": "0.04", "samples": "20", "history": "20", "round": "1s"})
	for range 20 {
		p.Learn("u", "", 10, 5)
	}
	d := perform(t, p, 2, batch.Second,
		aside(0, 5, 9, 2, 6, 10), aside(0, 6, 8, 2, 18, 20), submit(0, job{h: 1, width: 2, estimate: 10, due: 6}),
		ask(7, job{h: 2, width: 2, estimate: 10, due: 18, from: 10}))
	d.want(t, "0 start 1", "6 kill 1", "6 start 9", "offer never", "10 end 9", "18 start 8", "20 end 8")
}

// After Hold and Place the job counts on no other jobs, and starts as soon as possible.
func TestAPlacedJobIsReplanned(t *testing.T) {
	shape := batch.Shape{Width: 2, Walltime: 10 * batch.Second}
	apply := func(at int, ev batch.Event) act {
		return act{at, func(_ *diary, e *engine.Engine) { e.Apply(&ev) }}
	}
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 10, runs: 3}), aside(0, 5, 9, 2, 17, 20),
		submit(0, job{h: 3, width: 2, estimate: 10, due: 17}),
		apply(1, batch.Event{Kind: batch.Hold, Job: 3}), apply(4, batch.Event{Kind: batch.Place, Job: 3, Shape: shape}))
	d.want(t, "0 start 1", "3 end 1", "4 start 3", "14 end 3", "17 start 9", "20 end 9")
}

// An estimate can promise some shapes and rate others as probable; each has its own end.
func TestAnEstimateHasTheEndOfEachShape(t *testing.T) {
	p := policy(t, 2, quarter)
	p.Apply(0, &batch.Event{Kind: batch.Reserve, Job: 1, Spec: &batch.Job{
		Handle: 1, Shape: batch.Shape{Width: 1}, Window: &batch.Window{
			Start: 8 * batch.Time(batch.Second), End: 20 * batch.Time(batch.Second),
		},
	}})
	var out [1]batch.Estimate
	p.Estimate(0, []batch.Ask{{
		Job:    &batch.Job{Owner: "u", Agreed: true},
		Shapes: []batch.Shape{{Width: 1, Walltime: 10 * batch.Second}, {Width: 2, Walltime: 10 * batch.Second}},
	}}, out[:])
	e := &out[0]
	if e.Kind != batch.Probable || e.End(0, 10*batch.Second) != 10*batch.Time(batch.Second) ||
		e.End(1, 10*batch.Second) != 8*batch.Time(batch.Second) {
		t.Errorf("%+v", *e)
	}
}

// Job 1 has 4 s to spare, but the third processor is free only from 18 on.
//
//	11111111111111111111     wwww
//	11111111111111111111     wwww
//	222222222222222222       wwww
func TestJobsDoNotCountOnTimeOfOtherJobs(t *testing.T) {
	d := perform(t, policy(t, 3, quarter), 3, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 20}), submit(0, job{h: 2, width: 1, estimate: 18, honest: true}),
		aside(0, 5, 9, 3, 26, 30), ask(0, job{h: 3, width: 3, estimate: 10, due: 26}))
	d.want(t, "0 start 1", "0 start 2", "offer 18-26 PROBABLE 0.667", "18 end 2", "20 end 1", "26 start 9", "30 end 9")
}
