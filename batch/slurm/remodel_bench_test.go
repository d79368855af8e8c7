package slurm

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// crowded is a system of 1,000 processors after a look at a queue in which so many
// jobs of other people wait, and of ours as many here as are given.
func crowded(b *testing.B, others, own int) *System {
	b.Helper()
	var rows []Row
	for i := range 100 {
		rows = append(rows, runs(fmt.Sprint(i), 10, batch.Duration(1+i)*10*batch.Minute, batch.Minute))
	}
	for i := range others {
		r := waits(fmt.Sprint(1000+i), int32(1+i*7%64), batch.Duration(1+i*13%300)*batch.Minute, int64(1_000_000-i))
		if i < 1000 { // as many as backfill looks at
			r.Start = time.Now().Add(time.Duration(i+1) * time.Minute)
		}
		rows = append(rows, r)
	}
	s := shown(b, easy.New, 1000, rows...)
	for i := range own {
		job := &batch.Job{Shape: batch.Shape{Width: int32(1 + i*7%64), Walltime: batch.Duration(1+i*13%300) * batch.Minute}}
		if err := s.Do(b.Context(), []batch.Command{{Kind: batch.CmdSubmit, Key: attemptOf(i), Job: job}}); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkRemodel is what a look at a long queue costs beside the commands.
func BenchmarkRemodel(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for name, s := range map[string]*System{"in Slurm": crowded(b, n, 0), "here": crowded(b, 0, n)} {
			b.Run(fmt.Sprintf("%d %s", n, name), func(b *testing.B) {
				for b.Loop() {
					s.compare(s.view.rows, time.Now(), nil)
					s.remodel()
				}
			})
		}
	}
}
