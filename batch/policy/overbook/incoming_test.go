package overbook_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// incoming reserves a slot for a job that may come from another site.
func incoming(at int, j job) act {
	return act{at, func(d *diary, e *engine.Engine) {
		spec := j.spec(d)
		e.Admit(spec, d.duration(j.estimate))
		e.Apply(&batch.Event{Kind: batch.Reserve, Job: j.h, Spec: spec})
	}}
}

func confirm(at int, h batch.Handle) act {
	return act{at, func(_ *diary, e *engine.Engine) { e.Apply(&batch.Event{Kind: batch.Confirm, Job: h}) }}
}

// Job 3 counts on job 2, which is not confirmed at its start and gives up its slot. From 13 on
// that slot is for job 3: job 4, which came before it, needs more than the remaining 8 s, and a
// later estimate promises only what remains then. In the second run job 3 can start at once.
//
//	11111222222222233333330www
//	11111222222222233333330www
//	0    5         15     22 25
func TestPromisesComeFirstWhenASlotIsGivenUp(t *testing.T) {
	acts := func(from int) []act {
		return []act{
			submit(0, job{h: 1, width: 2, estimate: 5, honest: true}), incoming(0, job{h: 2, width: 2, estimate: 10}),
			aside(0, 5, 9, 2, 22, 25), submit(0, job{h: 4, width: 2, estimate: 10, honest: true}),
			submit(0, job{h: 3, width: 2, estimate: 10, runs: 8, from: from, due: 22}),
			standing(0, job{h: 3, width: 2, estimate: 10, due: 22}),
		}
	}
	late := job{h: 6, width: 2, estimate: 9, honest: true}
	d := perform(t, policy(t, 2, quarter), 2, batch.Second, append(acts(13), ask(5, late), submit(5, late),
		standing(5, late))...)
	d.want(t, "0 start 1", "stands 13-21 PROBABLE 0.562", "5 end 1", "offer 35-44 PROMISED", "stands 35-44 PROMISED",
		"13 start 3", "21 end 3", "22 start 9", "25 end 9", "25 start 4", "35 end 4", "35 start 6", "44 end 6")
	d = perform(t, policy(t, 2, quarter), 2, batch.Second, acts(0)...)
	d.want(t, "0 start 1", "stands 13-21 PROBABLE 0.562", "5 end 1", "5 start 3", "13 end 3", "22 start 9", "25 end 9",
		"25 start 4", "35 end 4")
}

// No other job waits, so the processors are free from 5 to 13. An estimate for 9 s does not
// promise the last of them, which job 3 counts on.
func TestTimeCountedOnIsNotPromisedWhenItIsGivenUp(t *testing.T) {
	late := job{h: 6, width: 2, estimate: 9, honest: true}
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 5, honest: true}), incoming(0, job{h: 2, width: 2, estimate: 10}),
		aside(0, 5, 9, 2, 22, 25), submit(0, job{h: 3, width: 2, estimate: 10, runs: 8, from: 13, due: 22}),
		ask(5, late), submit(5, late), standing(5, late))
	d.want(t, "0 start 1", "5 end 1", "offer 25-34 PROMISED", "stands 25-34 PROMISED",
		"13 start 3", "21 end 3", "22 start 9", "25 end 9", "25 start 6", "34 end 6")
}

// Job 2 is booked until 8, when job 1 is to start; job 1 is not confirmed by then.
func TestAnUnconfirmedJobPreemptsNoOthers(t *testing.T) {
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		incoming(0, job{h: 1, width: 2, estimate: 5, from: 8, honest: true}),
		submit(0, job{h: 2, width: 2, estimate: 10, due: 10}))
	d.want(t, "0 start 2", "10 end 2")
	if c := d.Counts(); c.Extended != 1 || c.Killed != 0 {
		t.Errorf("%+v", c)
	}
}

// Job 3 counts on job 1. Job 2, which has its slot behind the window, is confirmed when job 1
// ends, and would fit into the 2 s that job 1 leaves.
func TestPromisedTimeIsNotGivenToConfirmedJobs(t *testing.T) {
	d := perform(t, policy(t, 2, quarter), 2, batch.Second,
		submit(0, job{h: 1, width: 2, estimate: 10, runs: 8}), aside(0, 5, 9, 2, 17, 20),
		submit(0, job{h: 3, width: 2, estimate: 10, runs: 8, due: 17}),
		incoming(0, job{h: 2, width: 2, estimate: 2, honest: true}),
		confirm(8, 2))
	d.want(t, "0 start 1", "8 end 1", "8 start 3", "16 end 3", "17 start 9", "20 end 9", "20 start 2", "22 end 2")
}
