package site

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func BenchmarkSubmitAMenuAndRun(b *testing.B) {
	s := newSite(b, "", 1000, Exhaustive)
	r := &Request{Menu: moldable(1)}
	ids := make([]batch.JobID, 1_000_000)
	for i := range ids {
		ids[i] = batch.JobID(fmt.Sprint(i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if i%len(ids) == 0 {
			s = newSite(b, "", 1000, Exhaustive)
		}
		j, err := s.Submit(0, Submission{ID: ids[i%len(ids)], Request: r}, instant{})
		if err != nil {
			b.Fatal(err)
		}
		_, _ = s.Running(1, j.Key(), nil, nil)
		_, _ = s.Ended(2, j.Key(), batch.Outcome{End: batch.EndDone}, nil)
	}
}

// BenchmarkWaiting reports the core's memory for a waiting job: the job and its entries in the
// map and the order, without the driver's data.
func BenchmarkWaiting(b *testing.B) {
	const jobs = 100_000
	for range b.N {
		var (
			before, after runtime.MemStats
			fx            Effects
		)
		s := newSite(b, "", 1000, Exhaustive)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range jobs {
			id := batch.JobID(fmt.Sprintf("01900000-0000-7000-8000-%012x", i))
			r := &Request{
				Service: "lu", Owner: "ada", Menu: menu(4, int64(i%1000)+1), Memory: 1 << 30,
				Arguments: map[string]catalogue.Value{"n": catalogue.Int(int64(i))},
			}
			if _, err := s.Submit(0, Submission{ID: id, Request: r}, instant{}); err != nil {
				b.Fatal(err)
			}
			s.Take(0, &fx)
			s.ReleaseDossier(id)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/jobs, "B/job")
		runtime.KeepAlive(s)
	}
}
