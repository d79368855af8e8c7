package convergent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// stream is a driver without checks. Jobs end when they are picked.
type stream struct {
	p       batch.Policy
	r       *rand.Rand
	now     batch.Time
	running []batch.Handle
	specs   []arrival
	free    []batch.Handle
	out     batch.Decisions
}

// pass carries out all decisions of an instant.
func (s *stream) pass() {
	for again := true; again; {
		again = false
		s.out.Reset()
		s.p.Decide(s.now, &s.out)
		for i := range s.out.List {
			d := &s.out.List[i]
			switch d.Kind {
			case batch.Pause:
				s.running = slices.DeleteFunc(s.running, func(h batch.Handle) bool { return h == d.Job })
				s.p.Apply(s.now, &batch.Event{Kind: batch.Stopped, Job: d.Job, Checkpoint: true})
				again = true
			case batch.Resume:
				s.p.Apply(s.now, &batch.Event{Kind: batch.Resumed, Job: d.Job})
				s.running = append(s.running, d.Job)
			default:
				s.running = append(s.running, d.Job)
			}
		}
	}
}

// event alternates between an end and a submission, so that the number of jobs stays constant.
func (s *stream) event(n int) {
	s.now = s.now.Add(5 * batch.Second)
	if n%2 == 0 {
		k := s.r.IntN(len(s.running))
		h := s.running[k]
		s.running = slices.Delete(s.running, k, k+1)
		s.p.Apply(s.now, &batch.Event{Kind: batch.Finish, Job: h})
		s.free = append(s.free, h)
		return
	}
	h := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	old := s.specs[s.r.IntN(len(s.specs))].job
	spec := old
	spec.Handle = h
	if old.Deadline > 0 {
		spec.Deadline = s.now.Add(old.Shape.Walltime * 2)
	}
	s.p.Apply(s.now, &batch.Event{Kind: batch.Submit, Job: h, Spec: &spec})
}

func newStream(tb testing.TB, s batch.Settings, jobs, machines int) *stream {
	platform, list := crowd(1, machines, 20, jobs, 1)
	st := &stream{p: policy(tb, platform, s), r: rand.New(rand.NewPCG(2, 2)), specs: list}
	for i := range list {
		st.p.Apply(0, &batch.Event{Kind: batch.Submit, Job: list[i].job.Handle, Spec: &list[i].job})
	}
	st.pass()
	return st
}

// BenchmarkEvent measures the full cost of one event, an end or a submission: the plan and all
// following passes.
func BenchmarkEvent(b *testing.B) {
	for _, size := range []struct{ jobs, machines int }{
		{1500, 150}, {3000, 150}, {6000, 150}, {1500, 300}, {1500, 600}, {2500, 250}, {5000, 500}, {10000, 1000},
	} {
		for _, s := range []batch.Settings{
			{"algorithm": "CS_ip"},
			{"algorithm": "CS_ip", "preset": "deadlines"},
			{"algorithm": "CS_inp"},
			{"algorithm": "CS_nip"},
			{"algorithm": "CS_ninp"},
			{"algorithm": "BF-easy"},
			{"algorithm": "BF-rm"},
			{"algorithm": "EDF"},
		} {
			if size.machines != 150 && size.machines != 1000 && s["algorithm"] != "CS_ip" {
				continue // only the growth of incremental plans matters
			}
			b.Run(fmt.Sprintf("%dx%d/%s%s", size.jobs, size.machines, s["algorithm"], s["preset"]), func(b *testing.B) {
				st := newStream(b, s, size.jobs, size.machines)
				worst := time.Duration(0)
				b.ResetTimer()
				for n := range b.N {
					begin := time.Now()
					st.event(n)
					st.pass()
					worst = max(worst, time.Since(begin))
				}
				b.ReportMetric(float64(worst)/1e6, "worst-ms")
			})
		}
	}
}
