package site

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
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
