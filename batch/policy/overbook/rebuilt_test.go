package overbook_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// Job 1 runs for 8 s instead of 7, so job 2 no longer fits before job 3, which is booked from
// 12 on and counts on predecessors from 11 on. The second from 11 to 12 belongs to job 3, and
// is not promised to other jobs.
//
//	.......22222
//	.......22222
//	.......22222
//	11111112222233333330
//	0      7    12    19
func TestARebuiltPlanKeepsPromisesFirst(t *testing.T) {
	late := job{h: 6, width: 4, estimate: 4, honest: true}
	d := perform(t, policy(t, 4, quarter), 4, batch.Second,
		act{0, func(d *diary, e *engine.Engine) {
			e.Submit(job{h: 1, width: 1, estimate: 7, honest: true}.spec(d), 8*batch.Second)
		}},
		submit(0, job{h: 2, width: 4, estimate: 5}), submit(0, job{h: 3, width: 1, estimate: 10, runs: 8, due: 19}),
		standing(0, job{h: 3, width: 1, estimate: 10, due: 19}), ask(7, late), submit(7, late), standing(7, late))
	d.want(t, "0 start 1", "stands 11-19 PROBABLE 0.562", "offer 26-30 PROMISED", "stands 26-30 PROMISED",
		"8 end 1", "11 start 3", "19 end 3", "19 start 2", "24 end 2", "24 start 6", "28 end 6")
}
