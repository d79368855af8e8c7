package heuristic

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

const seconds = batch.Time(batch.Second)

// Three machines of scores 100, 200 and 400; a job takes 400 s, 200 s and 100 s on them.
func three(jobs ...farm.Job) *farm.State {
	s := &farm.State{Now: 1000 * seconds, Machines: []farm.Machine{
		{Score: 100, CPUs: 1}, {Score: 200, CPUs: 2}, {Score: 400, CPUs: 4},
	}}
	for i, j := range jobs {
		j.Order, j.Machine = int64(i+1), farm.NoMachine
		if j.Estimate == 0 {
			j.Estimate, j.Reference = 200*batch.Second, 200
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// The expected values are computed by hand from the paper's formulas and constants.
func TestExamplesByHand(t *testing.T) {
	none := farm.NoMachine
	licensed := func(s *farm.State) *farm.State {
		s.Licenses = []farm.License{{Copies: 1}, {Copies: 4}, {Copies: 2}}
		for i := range s.Machines {
			s.Machines[i].Licenses = farm.NewSet(0, 1, 2)
		}
		return s
	}
	for name, tc := range map[string]struct {
		heuristic Heuristic
		state     *farm.State
		want      [][3]float64 // points of each job; -1: not eligible
	}{
		"eligibility by CPUs": {
			&Overhead{Weight: 8 * One},
			three(farm.Job{CPUs: 1, Last: 2}, farm.Job{CPUs: 2, Last: 0}, farm.Job{CPUs: 4, Last: 2},
				farm.Job{CPUs: 5, Last: none}),
			[][3]float64{{0, 0, 8}, {-1, 0, 0}, {-1, -1, 8}, {-1, -1, -1}},
		},
		"no deadline, distant deadline, missed deadline": {
			deadline(),
			three(farm.Job{}, farm.Job{Deadline: 9000 * seconds}, farm.Job{Deadline: 900 * seconds},
				farm.Job{Deadline: 1050 * seconds}),
			[][3]float64{{0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}},
		},
		// 400 s left. k·Nxtime is 520, 260, 130 s, so t is 880, 1140, 1270 and Extime 1400,
		// 1200, 1100. Machine 0 ends the job at the deadline: f1 = Max = 10, f̄1 = 0. Machine 1
		// is at (1200-1140)/260 of the rise: f1 = 0.1 + 9.9·60/260 = 2.384615, f̄1 = 7.615385.
		// Machine 2 is early: 0.1 and 9.9. Sum 12.484615, d 17.515385.
		"one machine at the deadline, one in the rise": {
			deadline(),
			three(farm.Job{Deadline: 1400 * seconds}),
			[][3]float64{{0, 5.428093, 7.056521}},
		},
		// 300 s left. Machine 0 misses the deadline: f1 = 0.1, f̄1 = 9.9, as on machine 2,
		// where 1100 <= 1300-130. Machine 1: t 1040, (1200-1040)/260: f1 = 6.192308, f̄1 =
		// 3.807692. Sum 6.392308, d 23.607692.
		"late machine attracts like an early one": {
			deadline(),
			three(farm.Job{Deadline: 1300 * seconds}),
			[][3]float64{{2.680645, 1.031016, 2.680645}},
		},
		// As above, but with f1 = 10 on machine 0: sum 16.292308, d 13.707692.
		"late machine with avoid": {
			&Deadline{Max: 10 * One, Min: One / 10, K: 13 * One / 10, Avoid: true},
			three(farm.Job{Deadline: 1300 * seconds}),
			[][3]float64{{0, 4.525641, 11.766667}},
		},
		"all machines late with avoid": {
			&Deadline{Max: 10 * One, Min: One / 10, K: 13 * One / 10, Avoid: true},
			three(farm.Job{Deadline: 1050 * seconds}),
			[][3]float64{{0.1, 0.1, 0.1}},
		},
		// All f1 are 10, all f̄1 are 0.
		"only machine in time exactly at the deadline with avoid": {
			&Deadline{Max: 10 * One, Min: One / 10, K: 13 * One / 10, Avoid: true},
			three(farm.Job{Deadline: 1100 * seconds}),
			[][3]float64{{10, 10, 10}},
		},
		// 100 s left on every machine: the job ends exactly at the deadline.
		"estimate without a reference": {
			deadline(),
			three(farm.Job{Estimate: 100 * batch.Second, Deadline: 1100 * seconds},
				farm.Job{Estimate: 100 * batch.Second, Deadline: 1165 * seconds}),
			[][3]float64{{10, 10, 10}, {5.05, 5.05, 5.05}},
		},
		// A microsecond is left, with 2 to the deadline: 0.5, 0.25 and 2 times as much.
		"overrun estimate": {
			deadline(),
			three(
				farm.Job{Estimate: 100, Reference: 200, Done: 300, Deadline: 1000*seconds + 2},
				farm.Job{Estimate: 100, Reference: 200, Done: 300, Deadline: 1001 * seconds},
			),
			[][3]float64{{0, 5.428093, 7.056521}, {0.1, 0.1, 0.1}},
		},
		"half of the work done": {
			deadline(),
			three(farm.Job{
				Estimate: 400 * batch.Second, Reference: 200, Done: 200 * batch.Second, Deadline: 1400 * seconds,
			}),
			[][3]float64{{0, 5.428093, 7.056521}},
		},
		// Jobs request 3 copies of license 0 (rho 3, critical), 2 of license 1 (0.5), and 2 of
		// license 2 (1, not critical). w: 3·3 + 0.5 = 9.5, 3·3 = 9, 9 + 1, 0.5 + 1, 0.
		"licenses by scarcity": {
			&Licenses{Weight: 25 * One / 10},
			licensed(three(
				farm.Job{Licenses: []farm.Need{{License: 0, Copies: 1}, {License: 1, Copies: 1}}},
				farm.Job{Licenses: []farm.Need{{License: 0, Copies: 1}}},
				farm.Job{Licenses: []farm.Need{{License: 0, Copies: 1}, {License: 2, Copies: 1}}},
				farm.Job{Licenses: []farm.Need{{License: 1, Copies: 1}, {License: 2, Copies: 1}}},
				farm.Job{},
			)),
			[][3]float64{{2.375, 2.375, 2.375}, {2.25, 2.25, 2.25}, {2.5, 2.5, 2.5}, {0.375, 0.375, 0.375}, {0, 0, 0}},
		},
		"too many copies: not eligible, no demand": {
			&Licenses{Weight: 25 * One / 10},
			licensed(three(
				farm.Job{Licenses: []farm.Need{{License: 0, Copies: 2}, {License: 2, Copies: 1}}},
				farm.Job{Licenses: []farm.Need{{License: 0, Copies: 1}}},
				farm.Job{Licenses: []farm.Need{{License: 2, Copies: 1}}},
			)),
			[][3]float64{{-1, -1, -1}, {2.5, 2.5, 2.5}, {1.25, 1.25, 1.25}},
		},
		// 300 bytes on machine 1, 100 elsewhere: 400, 100, 400 of 900 bytes must move.
		"input on a machine": {
			&Input{Weight: 3 * One},
			three(farm.Job{Input: []farm.Input{{Place: 1, Bytes: 300}, {Place: 7, Bytes: 100}}}, farm.Job{}),
			[][3]float64{{5. / 3, 8. / 3, 5. / 3}, {3, 3, 3}},
		},
		// Data moves from machine 0 to machine 1 at 1 byte/s, to machine 2 at 3: 0, 300, 100 s.
		"input over unequal links": {
			&Input{Weight: 3 * One},
			linked(three(farm.Job{Input: []farm.Input{{Place: 0, Bytes: 300}}})),
			[][3]float64{{3, 0.75, 2.25}},
		},
		"single machine without the input": {
			&Input{Weight: 3 * One},
			three(farm.Job{CPUs: 3, Input: []farm.Input{{Place: 0, Bytes: 300}}}),
			[][3]float64{{-1, -1, 0}},
		},
		// 400, 200, 100 s and 100, 50, 25 s, of 400 s.
		"short jobs and fast machines first": {
			&Wait{Weight: 4 * One},
			three(farm.Job{}, farm.Job{Estimate: 50 * batch.Second, Reference: 200},
				farm.Job{Estimate: 100 * batch.Second}),
			[][3]float64{{0, 2, 3}, {3, 3.5, 3.75}, {3, 3, 3}},
		},
		"waitPerJob": {
			&Wait{Weight: 4 * One, PerJob: true},
			three(farm.Job{}, farm.Job{Estimate: 50 * batch.Second, Reference: 200}),
			[][3]float64{{0, 2, 3}, {0, 2, 3}},
		},
		"age": {
			&Aging{Weight: One / 50},
			three(farm.Job{Submit: 0}, farm.Job{Submit: 950 * seconds}, farm.Job{Submit: 2000 * seconds}),
			[][3]float64{{20, 20, 20}, {1, 1, 1}, {0, 0, 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m farm.Matrix
			Collect(tc.heuristic).Fill(tc.state, &m)
			for i, want := range tc.want {
				for machine, points := range want {
					got := float64(m.At(i, machine)-1) / float64(farm.Point)
					if m.At(i, machine) == 0 {
						got = -1
					}
					if d := got - points; d > 3e-6 || d < -3e-6 {
						t.Errorf("job %d, machine %d: %.6f points, want %.6f", i, machine, got, points)
					}
				}
			}
		})
	}
}

func deadline() Heuristic { return &Deadline{Max: 10 * One, Min: One / 10, K: 13 * One / 10} }

func linked(s *farm.State) *farm.State {
	s.Links = &farm.Links{Rate: 1, Rates: [][]int64{{1, 1, 3}}}
	return s
}
