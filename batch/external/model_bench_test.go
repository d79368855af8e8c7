package external

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// crowded is a System on 1,000 processors after a poll, with this many waiting jobs of
// other users and in the local queue.
func crowded(b *testing.B, others, own int) *System {
	b.Helper()
	var jobs []Job
	for i := range 100 {
		jobs = append(jobs, runs(fmt.Sprint(i), 10, batch.Duration(1+i)*10*batch.Minute, batch.Minute))
	}
	for i := range others {
		r := waits(fmt.Sprint(1000+i), int32(1+i*7%64), batch.Duration(1+i*13%300)*batch.Minute, int64(1_000_000-i))
		if i < 1000 { // a backfilling scheduler plans about this many
			r.Start = time.Now().Add(time.Duration(i+1) * time.Minute)
		}
		jobs = append(jobs, r)
	}
	s := polled(b, easy.New, 1000, jobs...)
	for i := range own {
		job := &batch.Job{Shape: batch.Shape{
			Width: int32(1 + i*7%64), Walltime: batch.Duration(1+i*13%300) * batch.Minute,
		}}
		if err := s.Do(b.Context(), []batch.Command{{Kind: batch.CmdSubmit, Key: attemptOf(i), Job: job}}); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkRebuildModel is the cost of a poll of a long queue, without the commands.
func BenchmarkRebuildModel(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for name, s := range map[string]*System{"in the cluster": crowded(b, n, 0), "local": crowded(b, 0, n)} {
			b.Run(fmt.Sprintf("%d %s", n, name), func(b *testing.B) {
				for b.Loop() {
					s.compare(s.view.jobs, time.Now(), nil)
					s.rebuildModel()
				}
			})
		}
	}
}
