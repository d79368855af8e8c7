package dfrs_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// BenchmarkPeriod measures all passes of a periodic instant with 1,000 jobs on 1,000 nodes:
// MCB8, the yields, and the decisions.
func BenchmarkPeriod(b *testing.B) {
	for _, name := range []string{
		dfrs.Recommended.String(), "MCB8*/per/opt=min", "MCB8*/per/opt=avg", "/stretch-per/opt=max",
	} {
		b.Run(name, func(b *testing.B) {
			p := policy(b, cluster(1000, 100), batch.Settings{"algorithm": name, "period": "600s"})
			jobs := random(5, 1000, 64, 0)
			now := batch.Time(0)
			for i := range jobs {
				p.Apply(now, &batch.Event{Kind: batch.Submit, Job: jobs[i].spec.Handle, Spec: &jobs[i].spec})
			}
			var out batch.Decisions
			decisions := 0
			for b.Loop() {
				for again := true; again; {
					again = false
					out.Reset()
					p.Decide(now, &out)
					decisions += len(out.List)
					for i := range out.List {
						d := &out.List[i]
						if d.Kind == batch.Pause || d.Kind == batch.Migrate {
							p.Apply(now, &batch.Event{Kind: batch.Stopped, Job: d.Job, Checkpoint: true})
						}
						if d.Kind == batch.Resume || d.Kind == batch.Migrate {
							p.Apply(now, &batch.Event{Kind: batch.Resumed, Job: d.Job})
						}
						again = again || d.Kind == batch.Pause || d.Kind == batch.Migrate
					}
				}
				now = now.Add(600 * batch.Second)
			}
			b.ReportMetric(float64(decisions)/float64(b.N), "decisions")
		})
	}
}
