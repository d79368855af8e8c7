package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// BenchmarkEndOfAnAwaitedJob ends jobs that a thousand other jobs await. Each of these awaits a
// thousand jobs.
func BenchmarkEndOfAnAwaitedJob(b *testing.B) {
	const many = 1000
	for b.Loop() {
		b.StopTimer()
		s, err := New(Config{Name: "s", Platform: batch.Processors(4)})
		if err != nil {
			b.Fatal(err)
		}
		r := behind()
		for i := range many {
			queue(b, s, numbered(i))
			r.After = append(r.After, Dependency{Job: numbered(i)})
		}
		for i := range many {
			submit(b, s, 0, numbered(many+i), r)
		}
		b.StartTimer()
		done(b, s, sec(1), numbered(0), batch.Outcome{End: batch.EndDone})
	}
}
