package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// scripted is a policy that makes given decisions at given instants.
type scripted struct {
	at    []batch.Time // ascending
	pass  []func(*batch.Decisions)
	ended []string // the events Finish, Stopped and Resumed
}

func (s *scripted) Apply(now batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Finish:
		s.ended = append(s.ended, fmt.Sprintf("%g end of %d", now.Sub(0).Seconds(), ev.Job))
	case batch.Stopped:
		s.ended = append(s.ended, fmt.Sprintf("%g stop of %d after %v", now.Sub(0).Seconds(), ev.Job, ev.Progress))
	case batch.Resumed:
		s.ended = append(s.ended, fmt.Sprintf("%g resumed: %d", now.Sub(0).Seconds(), ev.Job))
	}
}

func (s *scripted) Decide(now batch.Time, out *batch.Decisions) {
	if len(s.at) > 0 && s.at[0] == now {
		s.pass[0](out)
		s.at, s.pass = s.at[1:], s.pass[1:]
	}
}

func (s *scripted) Wake() batch.Time {
	if len(s.at) == 0 {
		return batch.Never
	}
	return s.at[0]
}
func (s *scripted) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }
func (s *scripted) Fork() batch.Policy                                                { c := *s; return &c }

// then adds a pass; at is in seconds.
func (s *scripted) then(at int, pass func(*batch.Decisions)) {
	s.at = append(s.at, batch.Time(at)*batch.Time(batch.Second))
	s.pass = append(s.pass, pass)
}

// decided is an observer that records the decisions.
type decided struct{ lines []string }

func (d *decided) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}
func (d *decided) Ended(batch.Time, *batch.Job, bool)                     {}
func (d *decided) Decided(now batch.Time, job *batch.Job, dec *batch.Decision) {
	d.lines = append(d.lines, fmt.Sprintf("%g %v %d", now.Sub(0).Seconds(), dec.Kind, job.Handle))
}

func share(node int32, part batch.Share) batch.NodeAllocation {
	return batch.NodeAllocation{Node: node, Processors: 1, Share: batch.One / part}
}

// The job has 20 s of work. The comments give the work that is done at each pass.
func TestMovedJobProgressesAfterThePenalty(t *testing.T) {
	s, d := &scripted{}, &decided{}
	decide := func(kind batch.DecisionKind, places ...batch.NodeAllocation) func(*batch.Decisions) {
		return func(out *batch.Decisions) { out.Add(kind, 1, places...) }
	}
	s.then(1, decide(batch.Start, share(0, 1)))
	s.then(5, decide(batch.Pause))               // 4 done
	s.then(6, decide(batch.Resume, share(0, 1))) // until 16 it does nothing
	s.then(9, decide(batch.SetShare, share(0, 2)))
	s.then(18, decide(batch.Migrate, share(1, 1)))  // 2 s at half: 5 done; until 28
	s.then(20, decide(batch.Pause))                 // within the penalty: 5 done
	s.then(21, decide(batch.Resume, share(1, 1)))   // until 31
	s.then(25, decide(batch.Migrate, share(0, 1)))  // within the penalty: until 35
	s.then(40, decide(batch.SetShare, share(0, 5))) // 10 done; the other 10 take 50 s and 48 us
	platform := batch.Processors(2)
	e := engine.New(s, d, engine.NewLedger(platform))
	e.Penalty = 10 * batch.Second
	e.Submit(&batch.Job{Handle: 1, Shape: batch.Shape{Width: 1}}, 20*batch.Second)
	for e.Next() != batch.Never {
		e.Advance(e.Next())
		e.Pass()
	}
	if diff := cmp.Diff([]string{
		"5 stop of 1 after 4s", "16 resumed: 1", "18 stop of 1 after 5s", "20 stop of 1 after 5s",
		"25 stop of 1 after 5s", "35 resumed: 1", "90.000048 end of 1",
	}, s.ended); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := []string{
		"1 start 1", "5 pause 1", "6 resume 1", "9 share 1", "18 migrate 1", "20 pause 1", "21 resume 1",
		"25 migrate 1", "40 share 1",
	}; !slices.Equal(d.lines, want) {
		t.Errorf("decided %q, want %q", d.lines, want)
	}
}

// Without a penalty a moved job progresses at once.
func TestMovedJobWithoutPenaltyProgressesAtOnce(t *testing.T) {
	s := &scripted{}
	s.then(1, func(out *batch.Decisions) { out.Add(batch.Start, 1, share(0, 1)) })
	s.then(3, func(out *batch.Decisions) { out.Add(batch.Migrate, 1, share(1, 1)) })
	s.then(4, func(out *batch.Decisions) { out.Add(batch.Pause, 1) })
	s.then(6, func(out *batch.Decisions) { out.Add(batch.Resume, 1, share(0, 1)) })
	platform := batch.Processors(2)
	e := engine.New(s, &decided{}, engine.NewLedger(platform))
	e.Submit(&batch.Job{Handle: 1, Shape: batch.Shape{Width: 1}}, 5*batch.Second)
	for e.Next() != batch.Never {
		e.Advance(e.Next())
		e.Pass()
	}
	if diff := cmp.Diff([]string{
		"3 stop of 1 after 2s", "3 resumed: 1", "4 stop of 1 after 3s", "6 resumed: 1", "8 end of 1",
	}, s.ended); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Frequent changes of shares leave outdated ends in the heap. They must neither accumulate nor
// change the order of the jobs.
func TestEndsStayInOrderHoweverOftenSharesChange(t *testing.T) {
	s := &scripted{}
	const jobs = 50
	s.then(0, func(out *batch.Decisions) {
		for h := batch.Handle(1); h <= jobs; h++ {
			out.Add(batch.Start, h, share(int32(h-1), 1))
		}
	})
	for i := 1; i <= 1000; i++ { // all run at half their speed every other second
		s.then(i, func(out *batch.Decisions) {
			for h := batch.Handle(1); h <= jobs; h++ {
				out.Add(batch.SetShare, h, share(int32(h-1), batch.Share(1+i%2)))
			}
		})
	}
	platform := batch.Processors(jobs)
	e := engine.New(s, &decided{}, engine.NewLedger(platform))
	var want []string
	for h := batch.Handle(1); h <= jobs; h++ {
		// Of two seconds one counts half: 1.5 s of work need 2 s.
		work := 1500*batch.Second + batch.Duration((h*7)%jobs)*3*batch.Second
		e.Submit(&batch.Job{Handle: h, Shape: batch.Shape{Width: 1}}, work)
	}
	for i := range jobs { // by work
		h := 0
		for (h*7)%jobs != i {
			h++
		}
		if h == 0 {
			h = jobs
		}
		want = append(want, fmt.Sprintf("%g end of %d", 1000+750+float64(i)*3, h))
	}
	for e.Next() != batch.Never {
		e.Advance(e.Next())
		e.Pass()
	}
	if diff := cmp.Diff(want, s.ended); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
