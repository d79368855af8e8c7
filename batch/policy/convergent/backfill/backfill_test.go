package backfill_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/backfill"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

const (
	free = roster.Free
	none = farm.NoMachine
)

// shortest orders short jobs first.
func shortest() *heuristic.Collection {
	return heuristic.Collect(&heuristic.Wait{Weight: heuristic.One})
}

// waits returns a waiting job with the given runtime on every machine.
func waits(seconds batch.Duration, cpus, copies int32) farm.Job {
	j := farm.Job{Estimate: seconds * batch.Second, CPUs: cpus, Machine: none, Last: none}
	if copies > 0 {
		j.Licenses = []farm.Need{{License: 0, Copies: copies}}
	}
	return j
}

// runs returns a job that runs on a machine for the given remaining time.
func runs(machine int32, seconds batch.Duration, copies int32) farm.Job {
	j := waits(seconds, 1, copies)
	j.Machine, j.Last, j.Held, j.Fixed = machine, machine, true, true
	return j
}

// state returns machines of 2 CPUs with the given scores, and copies of one license.
func state(copies int32, scores []int32, jobs ...farm.Job) *farm.State {
	s := &farm.State{Licenses: []farm.License{{Name: "cad", Copies: copies}}, Jobs: jobs}
	for _, score := range scores {
		s.Machines = append(s.Machines, farm.Machine{Score: score, CPUs: 2, Licenses: farm.NewSet(0)})
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

// narrow reduces a machine to one CPU, so that jobs of two cannot run there.
func narrow(s *farm.State, machine int) *farm.State {
	s.Machines[machine].CPUs = 1
	return s
}

func down(s *farm.State, machine int) *farm.State {
	s.Machines[machine].Down = true
	return s
}

func TestBackfillingRespectsTheFirstJob(t *testing.T) {
	for name, tc := range map[string]struct {
		s    *farm.State
		want []int32 // job on each machine
	}{
		"best machine for each job in order": {
			state(0, []int32{100, 300, 200}, waits(9, 1, 0), waits(9, 1, 0)), []int32{free, 0, 1},
		},
		// Machine 1, the better one, is reserved for job 1 at 100, when the copy is back.
		"job that ends before the reservation": {
			state(1, []int32{100, 200}, runs(0, 100, 1), waits(9, 1, 1), waits(100, 1, 0)), []int32{0, 2},
		},
		"job that would overrun the reservation": {
			state(1, []int32{100, 200}, runs(0, 100, 1), waits(9, 1, 1), waits(101, 1, 0)), []int32{0, free},
		},
		"later end on another machine": {
			state(1, []int32{100, 200, 50}, runs(0, 100, 1), waits(9, 1, 1), waits(101, 1, 0)), []int32{0, free, 2},
		},
		// Job 1 needs both copies and machine 0. Machine 1 is too narrow.
		"copy needed by the first job": {
			narrow(state(2, []int32{100, 50}, runs(0, 100, 0), waits(9, 2, 2), waits(101, 1, 1)), 1), []int32{0, free},
		},
		"copy returned in time": {
			narrow(state(2, []int32{100, 50}, runs(0, 100, 0), waits(9, 2, 2), waits(100, 1, 1)), 1), []int32{0, 2},
		},
		"spare copy": {
			narrow(state(3, []int32{100, 50}, runs(0, 100, 0), waits(9, 2, 2), waits(101, 1, 1)), 1), []int32{0, 2},
		},
		"spare copy used once": {
			narrow(narrow(state(3, []int32{100, 50, 40}, runs(0, 100, 0), waits(9, 2, 2), waits(101, 1, 1),
				waits(101, 1, 1)), 1), 2), []int32{0, 2, free},
		},
		"first job waits for a machine that is down": {
			narrow(down(state(0, []int32{100, 50}, waits(9, 2, 0), waits(999, 1, 0)), 0), 1), []int32{free, 1},
		},
		"job that can never run": {
			state(1, []int32{100, 200}, runs(0, 100, 1), waits(9, 1, 2), waits(9, 1, 1), waits(101, 1, 0)),
			[]int32{0, free},
		},
		"licenses of a job on a machine that is down": {
			down(state(1, []int32{100, 50}, runs(0, 100, 1), waits(9, 1, 1)), 0), []int32{free, free},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, plan(backfill.New(backfill.EASY, nil), tc.s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFirstWaitingJob(t *testing.T) {
	for rule, want := range map[backfill.Rule]int32{backfill.EASY: 0, backfill.Renewed: 1, backfill.Kept: 1} {
		s := state(0, []int32{100}, waits(50, 1, 0), waits(10, 1, 0))
		if got := plan(backfill.New(rule, shortest), s)[0]; got != want {
			t.Errorf("rule %d: job %d, want %d", rule, got, want)
		}
	}
}

// Job 1 has a reservation of job 0's machine. Then a shorter job comes, and job 0 ends.
func TestAReservationIsKeptWhenAShorterJobComes(t *testing.T) {
	for rule, want := range map[backfill.Rule]int32{backfill.Renewed: 2, backfill.Kept: 1} {
		p := backfill.New(rule, shortest)
		s := state(0, []int32{100}, runs(0, 100, 0), waits(50, 1, 0), waits(10, 1, 0))
		all := s.Jobs
		s.Jobs = all[:2]
		plan(p, s)
		s.Jobs = all
		plan(p, s)
		fork := p.Fork()
		s.Jobs = []farm.Job{all[1], all[2]}
		if got := plan(p, s)[0] + 1; got != want {
			t.Errorf("rule %d: job %d, want %d", rule, got, want)
		}
		if got := plan(fork, s)[0] + 1; got != want {
			t.Errorf("rule %d, a fork: job %d, want %d", rule, got, want)
		}
	}
}

// Job 2 needs two CPUs and both copies, and has a reservation of machine 0 from 100 on. Then
// the job on machine 1, the better one, turns out to end at 80. Because the reservation is
// kept, job 3, which holds a copy for 90 seconds on machine 2, does not delay job 2.
func TestAReservationIsForOneMachine(t *testing.T) {
	for rule, want := range map[backfill.Rule]int32{backfill.Renewed: free, backfill.Kept: 3} {
		p := backfill.New(rule, shortest)
		s := narrow(state(2, []int32{100, 200, 50}, runs(0, 100, 0), runs(1, 150, 0), waits(10, 2, 2), waits(90, 1, 1)),
			2)
		all := s.Jobs
		s.Jobs = all[:3]
		plan(p, s)
		s.Jobs = all
		s.Jobs[1].Done = 70 * batch.Second
		if got := plan(p, s)[2]; got != want {
			t.Errorf("rule %d: job %d on machine 2, want %d", rule, got, want)
		}
	}
}

// The reserved machine leaves: the new reservation is machine 0 at 100, which job 3 would
// delay.
func TestAReservationEndsWithItsMachine(t *testing.T) {
	p := backfill.New(backfill.Kept, shortest)
	s := narrow(state(2, []int32{100, 200, 50}, runs(0, 100, 0), runs(1, 80, 0), waits(10, 2, 2), waits(101, 1, 1)), 2)
	all := s.Jobs
	s.Jobs = all[:3]
	plan(p, s) // machine 1, at 80
	s.Machines[1].Down = true
	s.Jobs = all
	if got := plan(p, s); got[2] != free {
		t.Errorf("%v: job 3 puts job 2 off", got)
	}
}
