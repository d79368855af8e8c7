package overbook_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The example of section 3.1.4, in minutes after 21:00. The cluster is taken from 22:00 to 3:00
// by a job of five hours, and again from 7:00 on. A job of five hours does not fit between 3:00
// and 7:00, nor does its short time of 266 minutes; but it fits from 2:26 on if its predecessor
// ends 34 minutes early. It is therefore accepted from 2:26 to 6:52.
//
//	22:00         2:26 3:00              6:52 7:00
//	├── 1 ────────────┤                       ├─ 2, not before 7:00 ─
//	              ├─ 3 ────────────────────┤
func night(runs int, checkpoint bool) (batch.Settings, []act) {
	third := job{h: 3, width: 32, estimate: 300, runs: runs, due: 600, checkpoint: checkpoint}
	return batch.Settings{"maxPoF": "0.13", "distribution": "uniform"}, []act{
		submit(0, job{h: 4, width: 32, estimate: 60}),
		submit(0, job{h: 1, width: 32, estimate: 300, runs: 260, due: 360}),
		submit(0, job{h: 2, width: 32, estimate: 300, from: 600, due: 900, honest: true}),
		ask(0, third), submit(0, third), standing(0, third),
	}
}

const accepted = "offer 326-592 PROBABLE 0.761"

func TestThePapersJobIsAcceptedFrom2h26To6h52(t *testing.T) {
	set, acts := night(266, false)
	d := perform(t, policy(t, 32, set), 32, batch.Minute, acts...)
	d.want(t,
		"0 start 4", accepted, "stands 326-592 PROBABLE 0.761",
		"60 end 4", "60 start 1", "320 end 1", "320 start 3", "586 end 3", "600 start 2", "900 end 2")
	if c := d.Counts(); c.Kept != 2 || c.Outran != 1 || c.Overbooked != 1 || c.Counting != 1 {
		t.Errorf("%+v", c)
	}
}

// The predecessor ends on time, and the job needs its whole estimate: at 7:00 there is a
// conflict. Without a checkpoint the job is killed and the provider pays.
func TestThePapersJobIsKilledWhenAllEstimatesAreExact(t *testing.T) {
	set, acts := night(300, false)
	acts[1] = submit(0, job{h: 1, width: 32, estimate: 300, due: 360})
	d := perform(t, policy(t, 32, set), 32, batch.Minute, acts...)
	d.want(t,
		"0 start 4", accepted, "stands 326-592 PROBABLE 0.761",
		"60 end 4", "60 start 1", "360 end 1", "360 start 3", "600 kill 3", "600 start 2", "900 end 2")
	if c := d.Counts(); c.Shortened != 1 || c.Outran != 2 || c.Late != 1 || c.Killed != 1 || c.Cut != 1 {
		t.Errorf("%+v", c)
	}
}

// As above, but with a checkpoint: the job continues for its last hour in a later gap, after
// its deadline.
func TestThePapersJobResumesFromItsCheckpoint(t *testing.T) {
	set, acts := night(300, true)
	acts[1] = submit(0, job{h: 1, width: 32, estimate: 300, due: 360})
	d := perform(t, policy(t, 32, set), 32, batch.Minute, acts...)
	d.want(t,
		"0 start 4", accepted, "stands 326-592 PROBABLE 0.761",
		"60 end 4", "60 start 1", "360 end 1", "360 start 3", "600 pause 3", "600 start 2", "900 end 2", "900 resume 3",
		"960 end 3")
	if c := d.Counts(); c.LateEnd != 1 || c.Outran != 2 || c.Paused != 1 {
		t.Errorf("%+v", c)
	}
}

// A predecessor that ends an hour early straightens the plan: the job is booked for more than
// its short time, but for less than its estimate.
func TestAnEarlyEndOfThePredecessorLengthensTheBooking(t *testing.T) {
	set, acts := night(300, false)
	acts[1] = submit(0, job{h: 1, width: 32, estimate: 300, runs: 240, due: 360})
	d := perform(t, policy(t, 32, set), 32, batch.Minute, acts...)
	d.want(t,
		"0 start 4", accepted, "stands 326-592 PROBABLE 0.761",
		"60 end 4", "60 start 1", "300 end 1", "300 start 3", "600 end 3", "600 start 2", "900 end 2")
	if c := d.Counts(); c.Straightened != 1 || c.Outran != 2 || c.Cut != 0 {
		t.Errorf("%+v", c)
	}
}
