package share_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// linear is a linear program in the paper's form: maximize the sum of worth × y, low <= y <= 1,
// no row above its room.
type linear struct {
	worth, low, room []float64
	rows             [][]float64
}

// program writes the program of a world: all nodes, all jobs.
func (w *world) program(low, worth func(*resident) float64) linear {
	var l linear
	numbers := w.numbers()
	for _, number := range numbers {
		l.worth = append(l.worth, worth(w.jobs[number]))
		l.low = append(l.low, low(w.jobs[number]))
	}
	for node := range w.nodes {
		row := make([]float64, len(numbers))
		for i, number := range numbers {
			row[i] = float64(w.jobs[number].cpu(node)) / float64(batch.One)
		}
		l.rows = append(l.rows, row)
		l.room = append(l.room, float64(w.room(node))/float64(batch.One))
	}
	return l
}

// byGonum returns the optimum by gonum's simplex, in standard form: the increase of each job,
// its slack to 1, the slack of each node.
func (l linear) byGonum() (float64, error) {
	n, m := len(l.worth), len(l.rows)
	a, b, c := mat.NewDense(n+m, 2*n+m, nil), make([]float64, n+m), make([]float64, 2*n+m)
	base := 0.0
	for i := range n {
		c[i] = -l.worth[i]
		base += l.worth[i] * l.low[i]
		a.Set(i, i, 1)
		a.Set(i, n+i, 1)
		b[i] = 1 - l.low[i]
	}
	for r, row := range l.rows {
		b[n+r] = l.room[r]
		for i, cell := range row {
			a.Set(n+r, i, cell)
			b[n+r] -= cell * l.low[i]
		}
		b[n+r] = max(b[n+r], 0)
		a.Set(n+r, 2*n+r, 1)
	}
	optimum, _, err := lp.Simplex(c, a, b, 1e-10, nil)
	return base - optimum, err
}

// write prints the program in the format of CPLEX.
func (l linear) write() []byte {
	var out bytes.Buffer
	sum := func(cells []float64) {
		for i, cell := range cells {
			fmt.Fprintf(&out, " + %.17g y%d", cell, i)
		}
	}
	out.WriteString("Maximize\n total:")
	sum(l.worth)
	out.WriteString("\nSubject To\n")
	for r, row := range l.rows {
		fmt.Fprintf(&out, " node%d:", r)
		sum(row)
		fmt.Fprintf(&out, " <= %.17g\n", l.room[r])
	}
	out.WriteString("Bounds\n")
	for i, low := range l.low {
		fmt.Fprintf(&out, " %.17g <= y%d <= 1\n", low, i)
	}
	out.WriteString("End\n")
	return out.Bytes()
}

// byGLPK returns the optimum by glpsol.
func (l linear) byGLPK(dir string) (float64, error) {
	in, out := filepath.Join(dir, "p.lp"), filepath.Join(dir, "p.sol")
	if err := os.WriteFile(in, l.write(), 0o600); err != nil {
		return 0, err
	}
	if text, err := exec.Command("glpsol", "--lp", in, "-w", out).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 7 && f[0] == "s" {
			if f[4] != "f" {
				return 0, fmt.Errorf("glpsol found %q", line)
			}
			return strconv.ParseFloat(f[6], 64)
		}
	}
	return 0, errors.New("no solution in the file of glpsol")
}

// instance draws a world. If CPU is set aside, no job has a least yield; if bounded, no CPU is
// set aside, so that the bounds hold.
func instance(seed uint64, bounded bool) *world {
	draw := seeded(seed)
	w := populated(draw, false, int64(batch.One)/16)
	if seed%3 == 0 {
		for _, r := range w.jobs {
			r.flow, r.virtual = 0, 0
		}
		w.double()
	}
	if !bounded && seed%2 == 0 {
		return w
	}
	clear(w.taken)
	bound := w.pool().Bound()
	for _, number := range w.numbers() {
		w.jobs[number].least = batch.Share(draw(0, int64(bound)))
	}
	return w
}

// double adds an equal job for each job.
func (w *world) double() {
	for _, number := range w.numbers() {
		twin := *w.jobs[number]
		w.jobs[number+100] = &twin
	}
}

const period = 600 * batch.Second

// programs are both linear programs: the pool's solution, and the formulation.
var programs = []struct {
	name  string
	solve func(*share.Pool) []int32
	low   func(*share.Pool, *resident) float64
	worth func(*resident) float64
}{
	{
		"average", (*share.Pool).Average,
		func(p *share.Pool, _ *resident) float64 { return fraction(p.Bound()) },
		func(*resident) float64 { return 1 },
	},
	{
		"mean-stretch", func(p *share.Pool) []int32 { return p.MeanStretch(period) },
		func(_ *share.Pool, r *resident) float64 { return fraction(r.least) },
		func(r *resident) float64 { return float64(period) / float64(r.flow+period) },
	},
}

func fraction(s batch.Share) float64 { return float64(s) / float64(batch.One) }

// check compares the results of a pool with another solver's optimum, for many worlds.
func check(t *testing.T, count uint64, other func(linear) (float64, error)) {
	for _, program := range programs {
		t.Run(program.name, func(t *testing.T) {
			compared := 0
			for seed := range count {
				w := instance(seed, program.name == "average")
				p := w.pool()
				program.solve(p)
				w.fits(t, p)
				l := w.program(func(r *resident) float64 { return program.low(p, r) }, program.worth)
				want, err := other(l)
				if errors.Is(err, lp.ErrSingular) || errors.Is(err, lp.ErrLinSolve) {
					continue // a failure of gonum
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				compared++
				got := 0.0
				for i, number := range w.numbers() {
					y := fraction(p.Yield(number))
					if y < l.low[i] {
						t.Fatalf("seed %d: job %d has %v, less than its bound %v", seed, number, y, l.low[i])
					}
					got += l.worth[i] * y
				}
				if math.Abs(got-want) > 1e-5*max(1, want) {
					t.Errorf("seed %d: the sum is %.9f, want %.9f", seed, got, want)
				}
			}
			if compared < int(count)*9/10 {
				t.Errorf("only %d of %d programs were compared", compared, count)
			}
		})
	}
}

func TestLinearProgramsMatchGonumsSimplex(t *testing.T) {
	check(t, 600, linear.byGonum)
}

func TestLinearProgramsMatchGLPK(t *testing.T) {
	if _, err := exec.LookPath("glpsol"); err != nil {
		t.Skip("NOT CHECKED: no glpsol here (Debian package glpk-utils)")
	}
	dir := t.TempDir()
	check(t, 200, func(l linear) (float64, error) { return l.byGLPK(dir) })
}

func TestEqualJobsGetEqualYields(t *testing.T) {
	p := share.New(2, int64(batch.One))
	for number := range int32(4) {
		put(p, number, batch.One/2, 0)
	}
	put(p, 4, batch.One, 1)
	p.Average()
	for _, y := range yields(p, 0, 1, 2, 3) {
		if y != batch.One/2 {
			t.Errorf("yields %v, want halves", yields(p, 0, 1, 2, 3))
		}
	}
}

func TestAverageFavorsSmallNeedsAboveTheBound(t *testing.T) {
	p := share.New(3, int64(batch.One))
	put(p, 1, batch.One, 0, 1)
	put(p, 2, batch.One/2, 0)
	put(p, 3, batch.One/2, 1)
	put(p, 4, batch.One/4, 1) // an eighth of node 1 is left; this job gains most from it
	put(p, 5, batch.One, 2)
	put(p, 6, batch.One, 2) // the bound becomes a half
	p.Average()
	half := batch.One / 2
	if diff := cmp.Diff([]batch.Share{half, batch.One, half, batch.One, half, half},
		yields(p, 1, 2, 3, 4, 5, 6)); diff != "" {
		t.Error(diff)
	}
}

func TestTheBoundIsThatOfTheMostLoadedNode(t *testing.T) {
	p := share.New(2, int64(batch.One))
	put(p, 1, batch.One, 0)
	put(p, 2, batch.One/2, 0)
	p.Average()
	if p.Yield(1) != batch.Share(int64(batch.One)*2/3) { // the other job gets the rest
		t.Errorf("job 1 has yield %d, not two thirds", p.Yield(1))
	}
	for number := range int32(3) {
		put(p, 3+number, batch.One, 1) // the bound is a third, also on node 0
	}
	if diff := cmp.Diff([]int32{1, 2, 3, 4, 5}, p.Average()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]batch.Share{batch.One / 2, batch.One}, yields(p, 1, 2)); diff != "" {
		t.Error(diff)
	}
}

// Two nodes with the same jobs are one row, with the CPU of the smaller one.
func TestTakenCPUOfOneOfTwoEqualNodesCounts(t *testing.T) {
	for taken := range int32(2) {
		p := share.New(3, int64(batch.One))
		put(p, 1, batch.One, 0, 1)
		put(p, 2, batch.One, 0, 1)
		p.Put(3, []pack.Group{{CPU: batch.One}}, []pack.Placement{{Node: 2, Tasks: 8}}) // the bound is an eighth
		p.Take(taken, int64(batch.One)/2)
		p.Average()
		if diff := cmp.Diff([]batch.Share{batch.One / 4, batch.One / 4}, yields(p, 1, 2)); diff != "" {
			t.Error(diff)
		}
	}
}
