package sim_test

import (
	"context"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// perSecond reports how many jobs were simulated in a second.
func perSecond(b *testing.B, jobs int) {
	b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkCluster replays 50,000 jobs at 90% load, without reading the trace
// and without measuring.
func BenchmarkCluster(b *testing.B) {
	t, err := swf.ReadFile(trace(b, "syn50000.swf.gz"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"fcfs", "easy", "cbf"} {
		b.Run(name, func(b *testing.B) {
			w := sim.FromTrace(t, 256)
			b.ReportAllocs()
			for b.Loop() {
				policy, err := policy.New(name, batch.Processors(256), nil)
				if err != nil {
					b.Fatal(err)
				}
				c := sim.Cluster{Policy: policy}
				if _, err := c.Run(context.Background(), w); err != nil {
					b.Fatal(err)
				}
			}
			perSecond(b, len(w.Jobs))
		})
	}
}

// BenchmarkSingle is a whole run: reading, replaying, measuring.
func BenchmarkSingle(b *testing.B) {
	s := sim.Single{Trace: trace(b, "syn50000.swf.gz"), Procs: 256}
	for _, s.Policy = range []string{"fcfs", "easy", "cbf"} {
		b.Run(s.Policy, func(b *testing.B) {
			jobs := 0
			for b.Loop() {
				r, err := s.Run(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				jobs = r.Summary.Jobs
			}
			perSecond(b, jobs)
		})
	}
}

// BenchmarkGridMCT maps 6,000 jobs of three traces over three sites of each
// policy.
func BenchmarkGridMCT(b *testing.B) {
	path := files(b, map[string]string{
		"a.swf": randomTrace(1, 2000, 16), "b.swf": randomTrace(2, 2000, 24), "c.swf": randomTrace(3, 2000, 32),
	}) + "/scenario.yaml"
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		b.Run(policy, func(b *testing.B) {
			s := &sim.Scenario{
				Version: 1, Mapping: sim.MappingMCT, Sites: []sim.GridSite{
					{Name: "a", Trace: "a.swf", Procs: 16, Policy: policy},
					{Name: "b", Trace: "b.swf", Procs: 24, Speed: "1.2", Policy: policy},
					{Name: "c", Trace: "c.swf", Procs: 32, Speed: "1.4", Policy: policy},
				},
			}
			if problems := s.Validate(); len(problems) > 0 {
				b.Fatal(problems)
			}
			jobs := 0
			for b.Loop() {
				r, err := s.Run(context.Background(), path, nil)
				if err != nil {
					b.Fatal(err)
				}
				jobs = r.Summary.Jobs
			}
			perSecond(b, jobs)
		})
	}
}
