package fractional

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

const node = int64(1000) // its memory

// scripted makes the decisions of a script, at its instants. Instants are seconds.
type scripted struct {
	at   []int
	pass []func(*batch.Decisions)
}

func (s *scripted) Apply(batch.Time, *batch.Event) {}

func (s *scripted) Decide(now batch.Time, out *batch.Decisions) {
	if len(s.at) > 0 && now == batch.Time(s.at[0])*batch.Time(batch.Second) {
		s.pass[0](out)
		s.at, s.pass = s.at[1:], s.pass[1:]
	}
}

func (s *scripted) Wake() batch.Time {
	if len(s.at) == 0 {
		return batch.Never
	}
	return batch.Time(s.at[0]) * batch.Time(batch.Second)
}
func (s *scripted) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }
func (s *scripted) Fork() batch.Policy                                                { c := *s; return &c }

func on(share batch.Share, nodes ...int32) []batch.NodeAllocation {
	var places []batch.NodeAllocation
	for _, n := range nodes {
		places = append(places, batch.NodeAllocation{Node: n, Processors: 1, Share: share})
	}
	return places
}

// Three nodes. Job 1, of two tasks that each use a node, runs for 100 s; job 2, of one
// that uses half a node, for 40 s. Instants are those of the passes.
//
//	  0  1 starts on 0 and 1 at half                          50 s left after 100 s
//	 20  2 comes
//	100  1 is paused and resumed at once on 1 and 2, whole:   one task moves; held until 110
//	130  2 starts on 0                                        ends at 170
//	140  1 migrates from 1 and 2 to 0 and 2, at half:         20 s left; one moves; until 150
//	150  1 is paused                                          held all the time: 20 s left
//	200  1 continues on 0 and 1, whole: preempted               until 210, ends at 230
func TestAScheduleIsMeasuredAsByHand(t *testing.T) {
	const s = batch.Second
	half := batch.One / 2
	p := &scripted{}
	then := func(at int, pass func(*batch.Decisions)) { p.at, p.pass = append(p.at, at), append(p.pass, pass) }
	then(0, func(out *batch.Decisions) { out.Add(batch.Start, 1, on(half, 0, 1)...) })
	then(100, func(out *batch.Decisions) { out.Add(batch.Pause, 1); out.Add(batch.Resume, 1, on(batch.One, 1, 2)...) })
	then(130, func(out *batch.Decisions) { out.Add(batch.Start, 2, on(half, 0)...) })
	then(140, func(out *batch.Decisions) { out.Add(batch.Migrate, 1, on(half, 0, 2)...) })
	then(150, func(out *batch.Decisions) { out.Add(batch.Pause, 1) })
	then(200, func(out *batch.Decisions) { out.Add(batch.Resume, 1, on(batch.One, 0, 1)...) })
	in := &Instance{Set: "made", Nodes: 3, Memory: node, Jobs: []Job{
		{Submit: 0, Runtime: 100 * s, Tasks: 2, Need: batch.One, Memory: 300},
		{Submit: batch.Time(20 * s), Runtime: 40 * s, Tasks: 1, Need: half, Memory: 500},
	}}
	row, err := Run(t.Context(), in, Default, Period, 10*s,
		Options{Ledger: true, Wrap: func(batch.Policy) batch.Policy { return p }})
	if err != nil {
		t.Fatal(err)
	}
	want := Row{
		Case: Case{Set: "made", Algorithm: Default, Period: Period, Penalty: 10 * s}, Jobs: 2,
		MaxStretch: 150. / 40, MeanStretch: (230./100 + 150./40) / 2,
		Preemptions: 1, Migrations: 2, PreemptedBytes: 2 * 2 * 300, MigratedBytes: 2 * 2 * 300,
		Span: 230 * s, Work: 200 + 20, Demand: 2*230 + .5*150,
	}
	if row != want {
		t.Errorf("row  %+v\nwant %+v", row, want)
	}
	if got := row.Underutilization(); math.Abs(got-315./220) > 1e-12 {
		t.Errorf("underutilization %v", got)
	}
}

// Demand beyond the nodes there are does not count.
func TestDemandCountsAsFarAsThereAreNodes(t *testing.T) {
	in := &Instance{Set: "made", Nodes: 1, Memory: node}
	for range 3 {
		in.Jobs = append(in.Jobs, Job{Runtime: 20 * batch.Second, Tasks: 1, Need: batch.One})
	}
	in.Jobs = append(in.Jobs, Job{Submit: batch.Time(70 * batch.Second), Tasks: 1, Need: batch.One})
	for _, algorithm := range []string{FCFS, EASY} {
		row, err := Run(t.Context(), in, algorithm, Period, Penalty, Options{Ledger: true})
		if err != nil {
			t.Fatal(err)
		}
		want := Row{
			Case: Case{Set: "made", Algorithm: algorithm, Penalty: Penalty}, Jobs: 4,
			MaxStretch: 3, MeanStretch: (1 + 2 + 3 + 1) / 4., Span: 70 * batch.Second, Work: 60, Demand: 60,
		}
		if row != want {
			t.Errorf("row  %+v\nwant %+v", row, want)
		}
	}
}

func TestAnImpossibleInstanceIsRefused(t *testing.T) {
	good := Job{Submit: 5, Runtime: 1, Tasks: 2, Need: batch.One / 2, Memory: 10}
	for field, spoil := range map[string]func(*Job){
		"":        func(*Job) {},
		"submit":  func(j *Job) { j.Submit = 4 },
		"runtime": func(j *Job) { j.Runtime = -1 },
		"need":    func(j *Job) { j.Need = batch.One + 1 },
		"memory":  func(j *Job) { j.Memory = node + 1 },
		"tasks":   func(j *Job) { j.Tasks = 4 },
	} {
		bad := good
		spoil(&bad)
		in := &Instance{Nodes: 3, Memory: node, Jobs: []Job{good, bad}}
		err := in.Validate()
		if e, ok := errors.AsType[*JobError](err); field == "" && err != nil || field != "" &&
			(!ok || e.Field != field || e.Number != 2) {
			t.Errorf("%q: %v", field, err)
		}
	}
	for _, n := range []int32{0, MaxNodes + 1} {
		if err := (&Instance{Nodes: n}).Validate(); err == nil {
			t.Errorf("%d nodes are accepted", n)
		}
	}
}

// idle looks at the machine again and again and does nothing.
type idle struct {
	scripted
	next batch.Time
	ends bool
}

func (p *idle) Decide(now batch.Time, _ *batch.Decisions) { p.next = now.Add(batch.Hour) }

func (p *idle) Wake() batch.Time {
	if p.ends {
		return batch.Never
	}
	return p.next
}

func TestAPolicyWithoutProgressIsStopped(t *testing.T) {
	in := &Instance{
		Set: "made", Nodes: 1, Memory: node, Jobs: []Job{{Submit: 7, Runtime: batch.Hour, Tasks: 1, Need: 1}},
	}
	run := func(p batch.Policy) error {
		_, err := Run(t.Context(), in, Default, Period, Penalty,
			Options{Wrap: func(batch.Policy) batch.Policy { return p }})
		return err
	}
	if e, ok := errors.AsType[*StuckError](run(&idle{})); !ok || e.Jobs != 1 || e.Since <= 100*batch.Hour ||
		e.Since > 102*batch.Hour {
		t.Errorf("one that passes: %v", e)
	}
	if e, ok := errors.AsType[*UnendedError](run(&idle{ends: true})); !ok || e.Jobs != 1 {
		t.Errorf("one that sleeps: %v", e)
	}
}
