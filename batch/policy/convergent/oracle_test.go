package convergent

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// naive computes a plan as the paper describes it, in floating point and without state: the
// matrix of section 4.1, the licenses of 4.2, and the best of all matchings of 5.
type naive struct {
	s     *farm.State
	p     [][]float64
	clear []bool
}

// fill computes the matrix with the paper's constants and Δ.
func (n *naive) fill(overhead float64) {
	s := n.s
	var able [][]int
	demand := make([]float64, len(s.Licenses))
	sup := 0.0
	next := func(j *farm.Job, m int) float64 {
		return math.Ceil(float64(j.Remaining())*float64(j.Reference)/float64(s.Machines[m].Score)) / 1e6
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		var list []int
		for m := range s.Machines {
			if s.Eligible(j, int32(m)) {
				list = append(list, m)
				sup = max(sup, float64(j.Remaining())*float64(j.Reference)/float64(s.Machines[m].Score)/1e6)
			}
		}
		able = append(able, list)
		for _, l := range j.Licenses {
			if len(list) > 0 {
				demand[l.License] += float64(l.Copies)
			}
		}
	}
	worth := make([]float64, len(s.Jobs))
	for i := range s.Jobs {
		for _, l := range s.Jobs[i].Licenses {
			rho := demand[l.License] / float64(s.Licenses[l.License].Copies)
			if rho > 1 {
				rho *= float64(len(s.Licenses))
			}
			if len(able[i]) > 0 {
				worth[i] += rho
			}
		}
	}
	now := float64(s.Now) / 1e6
	n.p = nil
	for i := range s.Jobs {
		j := &s.Jobs[i]
		row := make([]float64, len(s.Machines))
		f1 := func(m int) float64 {
			by, nx := float64(j.Deadline)/1e6, next(j, m)
			t := by - 1.3*nx
			if j.Deadline == 0 || now+nx <= t || now+nx > by {
				return 0.1
			}
			return 9.9/(by-t)*(now+nx-t) + 0.1
		}
		sum, d, home := 0.0, 0.0, 0.0
		for _, m := range able[i] {
			sum, d = sum+f1(m), d+10-f1(m)
			if len(j.Input) > 0 && int(j.Input[0].Place) == m {
				home = 1
			}
		}
		for _, m := range able[i] {
			row[m] = 0.02 * (now - float64(j.Submit)/1e6)
			if d > 0 {
				row[m] += sum * (10 - f1(m)) / d
			} else {
				row[m] += sum / float64(len(able[i]))
			}
			if top := slices.Max(worth); top > 0 {
				row[m] += 2.5 * worth[i] / top
			}
			row[m] += 4 * (1 - float64(j.Remaining())*float64(j.Reference)/float64(s.Machines[m].Score)/1e6/sup)
			moved, all := 1.0, float64(len(able[i]))-home
			if len(j.Input) == 0 || home == 1 && int(j.Input[0].Place) == m {
				moved = 0
			}
			if all > 0 {
				row[m] += 3 * (1 - moved/all)
			} else {
				row[m] += 3
			}
			if int(j.Last) == m {
				row[m] += overhead
			}
		}
		n.p = append(n.p, row)
	}
}

// best tries all matchings of the jobs from i on.
func (n *naive) best(i int, taken []bool) (count int, sum float64) {
	if i == len(n.p) {
		return 0, 0
	}
	count, sum = n.best(i+1, taken)
	if n.clear[i] {
		return count, sum
	}
	for m, v := range n.p[i] {
		if v > 0 && !taken[m] {
			taken[m] = true
			c, s := n.best(i+1, taken)
			taken[m] = false
			if c+1 > count || c+1 == count && s+v > sum {
				count, sum = c+1, s+v
			}
		}
	}
	return count, sum
}

// small draws a farm and jobs small enough for brute force.
func small(r *rand.Rand) *farm.State {
	s := &farm.State{Now: batch.Time(1000 * batch.Second)}
	for range 1 + r.IntN(4) {
		m := farm.Machine{Score: int32(200 + r.IntN(401)), CPUs: int32(1 + r.IntN(4)), Down: r.IntN(12) == 0}
		for l := range int32(3) {
			if r.IntN(5) > 0 {
				m.Licenses = m.Licenses.With(l)
			}
		}
		s.Machines = append(s.Machines, m)
	}
	for range 3 {
		s.Licenses = append(s.Licenses, farm.License{Copies: int32(1 + r.IntN(3))})
	}
	return s
}

// later advances time and adds and removes jobs, as a roster does.
func later(r *rand.Rand, s *farm.State, plan []int32, order *int64) {
	var stay []farm.Job
	for i := range s.Jobs {
		j := s.Jobs[i]
		j.Last = farm.NoMachine
		if m := slices.Index(plan, int32(i)); m >= 0 {
			j.Last = int32(m)
			j.Done += batch.Duration(r.IntN(int(j.Remaining())/4 + 1))
		}
		j.Machine = j.Last
		if r.IntN(4) > 0 {
			stay = append(stay, j)
		}
	}
	s.Jobs = stay
	s.Now = s.Now.Add(batch.Duration(r.IntN(100)) * batch.Second)
	for len(s.Jobs) < 7 && r.IntN(3) > 0 {
		*order++
		j := farm.Job{
			Order: *order, Submit: s.Now, Estimate: batch.Duration(500+r.IntN(2500)) * batch.Second,
			Reference: int32(200 + r.IntN(401)),
			CPUs:      int32(1 + r.IntN(4)), Machine: farm.NoMachine, Last: farm.NoMachine,
		}
		if r.IntN(3) > 0 {
			j.Deadline = s.Now.Add(batch.Duration(500+r.IntN(4000)) * batch.Second)
		}
		for l := range int32(3) {
			if r.IntN(3) == 0 {
				j.Licenses = append(j.Licenses, farm.Need{License: l, Copies: int32(1 + r.IntN(2))})
			}
		}
		if r.IntN(2) == 0 {
			j.Input = []farm.Input{{Place: int32(r.IntN(5)), Bytes: 1 << 20}}
		}
		s.Jobs = append(s.Jobs, j)
	}
}

// Compares a whole pass with the naive one: the matrix; that each discarded job could not have
// its licenses beside the others; and that the plan has the most associations and, with MFS and
// Renew, the largest sum.
func TestPlansMatchANaiveImplementationOfThePaper(t *testing.T) {
	for _, matching := range []string{"mfs", "renew", "imfs"} {
		discarded, preempted := 0, 0
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 3))
			algorithm := map[string]string{"mfs": "CS_nip"}[matching]
			if algorithm == "" {
				algorithm = "CS_ip"
			}
			set, err := parse(batch.Settings{"algorithm": algorithm, "matching": matching})
			if err != nil {
				t.Fatal(err)
			}
			p, s := newPlanner(set), small(r)
			plan := make([]int32, len(s.Machines))
			order := int64(0)
			for range 6 {
				later(r, s, plan, &order)
				if err := s.Validate(); err != nil {
					t.Fatal(err)
				}
				p.Plan(s, plan)
				n := &naive{s: s, clear: make([]bool, len(s.Jobs))}
				n.fill(8)
				n.compare(t, p)
				discarded += n.licenses(t, p, plan)
				count, sum := n.best(0, make([]bool, len(plan)))
				got, points := 0, 0.0
				for m, i := range plan {
					if i != roster.Free {
						got, points = got+1, points+n.p[i][m]
					}
				}
				if got != count || points > sum+1e-3 || matching != "imfs" && points < sum-1e-3 {
					t.Fatalf("seed %d, %s: %d jobs with %v points, the best plan has %d with %v", seed, matching, got,
						points, count, sum)
				}
				for i := range s.Jobs {
					if s.Jobs[i].Machine != farm.NoMachine && !slices.Contains(plan, int32(i)) {
						preempted++
					}
				}
			}
		}
		if discarded < 50 || preempted < 10 {
			t.Errorf("%s: only %d jobs discarded and %d preempted: too few for a proof", matching, discarded, preempted)
		}
	}
}

// compare compares the matrix with the naive one.
func (n *naive) compare(t *testing.T, p *planner) {
	t.Helper()
	for i := range n.s.Jobs {
		r := p.matrix.Row(i)
		n.clear[i] = r.Cleared
		for m := range n.s.Machines {
			got := 0.0
			if r.Cells[m] > 0 {
				got = float64(r.Base+r.Cells[m]) / float64(farm.Point)
			}
			if math.Abs(got-n.p[i][m]) > 1e-4 {
				t.Fatalf("job %d, machine %d: %v points, want %v\n%+v", i, m, got, n.p[i][m], n.s.Jobs[i])
			}
		}
	}
}

// licenses checks the discarded jobs and returns their number.
func (n *naive) licenses(t *testing.T, p *planner, plan []int32) (discarded int) {
	t.Helper()
	left := make([]int32, len(n.s.Licenses))
	for l := range left {
		left[l] = n.s.Licenses[l].Copies
	}
	for i := range n.s.Jobs {
		if !n.clear[i] && len(p.matrix.Row(i).Columns) > 0 {
			for _, need := range n.s.Jobs[i].Licenses {
				left[need.License] -= need.Copies
			}
		}
	}
	for i := range n.s.Jobs {
		if !n.clear[i] {
			continue
		}
		discarded++
		fits := true
		for _, need := range n.s.Jobs[i].Licenses {
			fits = fits && left[need.License] >= need.Copies
		}
		if fits || slices.Contains(plan, int32(i)) {
			t.Fatalf("job %d is discarded: fits %t, plan %v", i, fits, plan)
		}
	}
	if slices.Min(left) < 0 {
		t.Fatalf("more copies than there are: %v left", left)
	}
	return discarded
}
