package edf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

const free = roster.Free

// job returns a job with a deadline, 0 for none, on a machine of the last plan.
func job(deadline batch.Time, last int32, copies ...int32) farm.Job {
	j := farm.Job{Deadline: deadline, Estimate: batch.Minute, CPUs: 1, Machine: last, Last: last}
	for l, n := range copies {
		if n > 0 {
			j.Licenses = append(j.Licenses, farm.Need{License: int32(l), Copies: n})
		}
	}
	return j
}

// state returns machines with the given scores that can run both licenses: a floating one with
// the given copies, and a bound one.
func state(copies int32, scores []int32, jobs ...farm.Job) *farm.State {
	s := &farm.State{
		Now:      5,
		Licenses: []farm.License{{Name: "cad", Copies: copies}, {Name: "node", Copies: 1, Bound: true}},
		Jobs:     jobs,
	}
	for _, score := range scores {
		s.Machines = append(s.Machines, farm.Machine{Score: score, CPUs: 1, Licenses: farm.NewSet(0, 1)})
	}
	for i := range s.Jobs {
		s.Jobs[i].Order = int64(i + 1)
	}
	return s
}

func plan(p roster.Planner, s *farm.State) []int32 {
	out := make([]int32, len(s.Machines))
	for m := range out {
		out[m] = free
	}
	p.Plan(s, out)
	return out
}

const none = farm.NoMachine

func TestPlan(t *testing.T) {
	gone := job(0, none, 1) // runs on a machine that is down, and holds its copy
	gone.Machine, gone.Fixed, gone.Held = 0, true, true
	down := state(1, []int32{100, 200}, gone, job(0, 1), job(10, none, 1))
	down.Machines[0].Down = true
	pinned := job(10, none)
	pinned.Machine, pinned.Held = 0, true
	for name, tc := range map[string]struct {
		how  edf.How
		s    *farm.State
		want []int32 // job on each machine
	}{
		"order by deadline, then submission, on descending scores": {
			edf.How{},
			state(0, []int32{400, 200, 600}, job(20, none), job(0, none), job(10, none), job(20, none)),
			[]int32{0, 3, 2},
		},
		"preemption of the latest deadline": {
			edf.How{},
			state(0, []int32{100, 200, 300}, job(50, 0), job(0, 1), job(60, 2), job(20, none)),
			[]int32{0, 3, 2},
		},
		"no preemption by an equal deadline": {
			edf.How{},
			state(0, []int32{100}, job(50, none), job(50, 0)),
			[]int32{1},
		},
		"no preemption by a later deadline": {
			edf.How{},
			state(0, []int32{100}, job(50, 0), job(0, none)),
			[]int32{0},
		},
		// Jobs 0 and 1 have the three copies. Job 2 needs two: preempting job 0 is not enough,
		// preempting job 1, too, is; then job 0 can stay.
		"unneeded preemption undone": {
			edf.How{},
			state(3, []int32{100, 200, 300}, job(0, 0, 1), job(100, 1, 2), job(10, none, 2)),
			[]int32{0, free, 2},
		},
		"no futile preemption": {edf.How{}, down, []int32{free, 1}},
		"bound licenses per machine": {
			edf.How{},
			state(0, []int32{100, 200}, job(0, none, 0, 1), job(10, none, 0, 1)),
			[]int32{0, 1},
		},
		"held job displaces another to a free machine": {
			edf.How{},
			state(0, []int32{100, 200}, job(0, 0), pinned),
			[]int32{1, 0},
		},
		"running job stays": {edf.How{}, state(0, []int32{100, 200}, job(10, 0)), []int32{0, free}},
		"move to a better machine with anew": {
			edf.How{ReplanAll: true}, state(0, []int32{100, 200}, job(10, 0)), []int32{free, 0},
		},
		"no move to an equal machine with anew": {
			edf.How{ReplanAll: true}, state(0, []int32{100, 100}, job(10, 1)), []int32{free, 0},
		},
		"latest deadline first": {
			edf.How{Order: edf.Latest}, state(0, []int32{100}, job(10, 0), job(20, none)), []int32{1},
		},
		"latest, without a deadline before all": {
			edf.How{Order: edf.Latest}, state(0, []int32{100}, job(20, 0), job(0, none)), []int32{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := edf.New(tc.how)
			if diff := cmp.Diff(tc.want, plan(p, tc.s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, plan(p.Fork(), tc.s)); diff != "" {
				t.Errorf("a fork plans otherwise (-want +got):\n%s", diff)
			}
		})
	}
}

// Jobs 1 and 2 wait, by 10 and by 20, and job 0 by 30 runs. A job that has just come preempts
// job 0; a job that has waited does not.
func TestQueuedOrderPreemptsOnlyForNewJobs(t *testing.T) {
	for name, tc := range map[string]struct {
		came []batch.Time
		want int32
	}{
		"two waiting jobs":                {[]batch.Time{0, 0}, 0},
		"new job with the later deadline": {[]batch.Time{0, 5}, 2},
		"two new jobs":                    {[]batch.Time{5, 5}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := state(0, []int32{100}, job(30, 0), job(10, none), job(20, none))
			s.Jobs[1].Submit, s.Jobs[2].Submit = tc.came[0], tc.came[1]
			if got := plan(edf.New(edf.How{Order: edf.Queued}), s)[0]; got != tc.want {
				t.Errorf("job %d, want %d", got, tc.want)
			}
		})
	}
}
