package matching

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// farm draws entries: with few or many values, with more or fewer cells that are not eligible,
// and dependent on jobs, on machines or on neither.
func farm(r *rand.Rand, jobs, machines int) [][]int64 {
	p := make([][]int64, jobs)
	most := []int64{1, 3, 100, 1 << 20, 1 << 40}[r.IntN(5)]
	eligible, kind := r.IntN(101), r.IntN(3)
	byMachine := make([]int64, machines)
	for m := range byMachine {
		byMachine[m] = r.Int64N(most) + 1
	}
	for i := range p {
		p[i] = make([]int64, machines)
		byJob := r.Int64N(most) + 1
		for m := range p[i] {
			if r.IntN(100) >= eligible {
				continue
			}
			p[i][m] = r.Int64N(most) + 1
			switch kind {
			case 1:
				p[i][m] = byJob*10 + p[i][m]/8
			case 2:
				p[i][m] = byJob + byMachine[m] + r.Int64N(3)
			}
		}
	}
	return p
}

// rowsOf splits entries into bases and cells, at random if r is not nil.
func rowsOf(r *rand.Rand, p [][]int64) []Row {
	rows := make([]Row, len(p))
	for i := range p {
		least := int64(1 << 62)
		for _, v := range p[i] {
			if v > 0 {
				least = min(least, v)
			}
		}
		switch {
		case least == 1<<62 && (r == nil || r.IntN(2) == 0):
			continue // nil cells
		case r == nil || least == 1<<62:
			rows[i].Cells = slices.Clone(p[i])
			continue
		}
		rows[i] = Row{Base: r.Int64N(least), Cells: make([]int64, len(p[i]))}
		for m, v := range p[i] {
			if v > 0 {
				rows[i].Cells[m] = v - rows[i].Base
			}
		}
	}
	return rows
}

// sound fails if a plan has a job twice or on a machine for which it is not eligible.
func sound(t *testing.T, rows []Row, plan []int32) {
	t.Helper()
	seen := map[int32]bool{}
	for m, row := range plan {
		if row == Free {
			continue
		}
		if seen[row] || rows[row].At(int32(m)) <= 0 {
			t.Fatalf("plan %v: row %d on machine %d is there twice or not eligible", plan, row, m)
		}
		seen[row] = true
	}
}

func wantBest(t *testing.T, p [][]int64, rows []Row, plan []int32) {
	t.Helper()
	sound(t, rows, plan)
	associations, sum := valueOf(rows, plan)
	if a, s := best(p, len(plan)); associations != a || sum != s {
		t.Fatalf("%d associations of %d points, want %d of %d\n%v\nplan %v", associations, sum, a, s, p, plan)
	}
}

func TestTheOracleMatchesExhaustiveSearch(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := farm(r, r.IntN(6), 1+r.IntN(5))
		machines := 5
		if len(p) > 0 {
			machines = len(p[0])
		}
		a, s := best(p, machines)
		if n, sum := try(p, make([]bool, machines)); a != n || s != sum {
			t.Fatalf("seed %d: oracle %d of %d, all tried %d of %d: %v", seed, a, s, n, sum, p)
		}
	}
}

func TestMFSIsAnOptimalAssignment(t *testing.T) {
	var s Solver
	for seed := range uint64(6000) {
		r := rand.New(rand.NewPCG(seed, 2))
		jobs, machines := r.IntN(30), 1+r.IntN(16)
		p := farm(r, jobs, machines)
		rows, plan := rowsOf(r, p), make([]int32, machines)
		s.MFS(rows, plan)
		wantBest(t, p, rows, plan)
	}
}

func TestMISTakesTheLargestRemainingEntry(t *testing.T) {
	var s Solver
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		jobs, machines := r.IntN(30), 1+r.IntN(16)
		p := farm(r, jobs, machines)
		plan := make([]int32, machines)
		s.MIS(rowsOf(r, p), plan)
		if diff := cmp.Diff(naiveMIS(p, machines), plan); diff != "" {
			t.Fatalf("seed %d: -want +got\n%s", seed, diff)
		}
	}
}

// pass applies a small or large change to a farm, as between two passes, and renumbers the rest
// of the plan.
func pass(r *rand.Rand, p [][]int64, plan []int32) [][]int64 {
	machines := len(plan)
	var left [][]int64
	number := make([]int32, len(p))
	leave := r.IntN(3)
	for i := range p {
		number[i] = Free
		if r.IntN(10) >= leave {
			number[i] = int32(len(left))
			left = append(left, p[i])
		}
	}
	for m, row := range plan {
		if row != Free {
			plan[m] = number[row]
		}
	}
	if r.IntN(2) == 0 {
		for i := range left {
			by := r.Int64N(20)
			for m := range left[i] {
				if left[i][m] > 0 {
					left[i][m] += by
				}
				if r.IntN(20) == 0 {
					left[i][m] = r.Int64N(100)
				}
			}
		}
	}
	if r.IntN(8) == 0 { // a machine leaves
		m := r.IntN(machines)
		for i := range left {
			left[i][m] = 0
		}
	}
	return append(left, farm(r, r.IntN(4), machines)...)
}

func TestRenewKeepsPlansOptimalAfterAnyChange(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 4))
		machines := 1 + r.IntN(14)
		p := farm(r, r.IntN(25), machines)
		plan := slices.Repeat([]int32{Free}, machines)
		s := &Solver{}
		for range 20 {
			rows := rowsOf(r, p)
			switch r.IntN(10) {
			case 0:
				s = s.Fork()
			case 1: // its prices are from another problem
				s.MFS(rowsOf(nil, farm(r, 9, machines)), make([]int32, machines))
			case 2:
				s = &Solver{}
			}
			s.Renew(rows, plan)
			wantBest(t, p, rows, plan)
			p = pass(r, p, plan)
		}
	}
}

func TestRenewKeepsAnOptimalPlan(t *testing.T) {
	var s Solver
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		machines := 1 + r.IntN(14)
		rows := rowsOf(r, farm(r, r.IntN(25), machines))
		plan := make([]int32, machines)
		s.MFS(rows, plan)
		again := slices.Clone(plan)
		s.Renew(rows, again)
		if diff := cmp.Diff(plan, again); diff != "" {
			t.Fatalf("seed %d: -want +got\n%s", seed, diff)
		}
	}
}

func TestIMFSFindsTheMostAssociations(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 6))
		machines := 1 + r.IntN(14)
		p := farm(r, r.IntN(25), machines)
		plan := slices.Repeat([]int32{Free}, machines)
		var s Solver
		for range 20 {
			rows := rowsOf(r, p)
			s.IMFS(rows, plan)
			sound(t, rows, plan)
			got, sum := valueOf(rows, plan)
			want, most := best(p, machines)
			if got != want || sum > most {
				t.Fatalf("seed %d: %d associations of %d points, want %d of at most %d", seed, got, sum, want, most)
			}
			p = pass(r, p, plan)
		}
	}
}

func TestIMFSKeepsAssociationsWithoutAPathFromOutside(t *testing.T) {
	// Two jobs would gain by swapping machines, but no path from an unmatched job passes there.
	rows := rowsOf(nil, [][]int64{{1, 9}, {9, 1}})
	plan := []int32{0, 1}
	var s Solver
	s.IMFS(rows, plan)
	if diff := cmp.Diff([]int32{0, 1}, plan); diff != "" {
		t.Error(diff)
	}
	s.Renew(rows, plan)
	if diff := cmp.Diff([]int32{1, 0}, plan); diff != "" {
		t.Error(diff)
	}
}

func TestIMFSNeverLowersTheSumOfAFullPlan(t *testing.T) {
	full := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9))
		machines := 2 + r.IntN(10)
		jobs := machines + r.IntN(20)
		var s Solver
		plan := make([]int32, machines)
		s.MFS(rowsOf(r, farm(r, jobs, machines)), plan)
		rows := rowsOf(r, farm(r, jobs, machines)) // its prices are unrelated to these rows
		kept := slices.Clone(plan)
		for m, row := range kept {
			if row != Free && rows[row].At(int32(m)) == 0 {
				kept[m] = Free
			}
		}
		before, least := valueOf(rows, kept)
		s.IMFS(rows, plan)
		after, sum := valueOf(rows, plan)
		if before == machines {
			full++
		}
		if after < before || before == machines && sum < least {
			t.Fatalf("seed %d: %d associations of %d points, there were %d of %d", seed, after, sum, before, least)
		}
	}
	if full < 20 {
		t.Errorf("only %d plans were full", full)
	}
}

func TestAJobWithALargeEntryKeepsItsMachine(t *testing.T) {
	// Without preemption running jobs have 800 points on their machines.
	const point = 1 << 20
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		machines := 2 + r.IntN(10)
		p := make([][]int64, 3*machines)
		for i := range p {
			p[i] = make([]int64, machines)
			for m := range p[i] {
				p[i][m] = 1 + r.Int64N(30*point)
			}
		}
		plan := slices.Repeat([]int32{Free}, machines)
		for m := range plan[:machines/2] {
			plan[m] = int32(2 * m)
			p[2*m][m] += 800 * point
		}
		held := slices.Clone(plan[:machines/2])
		for name, solve := range map[string]func(*Solver, []Row, []int32){
			"MFS": (*Solver).MFS, "IMFS": (*Solver).IMFS, "Renew": (*Solver).Renew, "MIS": (*Solver).MIS,
		} {
			got := slices.Clone(plan)
			solve(&Solver{}, rowsOf(r, p), got)
			if diff := cmp.Diff(held, got[:machines/2]); diff != "" {
				t.Errorf("%s, seed %d: -held +got\n%s", name, seed, diff)
			}
		}
	}
}

func TestAFixedJobIsLeftOutWithItsMachine(t *testing.T) {
	// Job 0 is on machine 1: its row has no cells, and no other job can go there.
	rows := []Row{{}, {Cells: []int64{3, 0, 9}}, {Cells: []int64{4, 0, 8}}}
	for name, solve := range map[string]func(*Solver, []Row, []int32){
		"MFS": (*Solver).MFS, "IMFS": (*Solver).IMFS, "Renew": (*Solver).Renew, "MIS": (*Solver).MIS,
	} {
		plan := []int32{Free, Free, Free}
		solve(&Solver{}, rows, plan)
		if diff := cmp.Diff([]int32{2, Free, 1}, plan); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestEntriesAboveTheLimitCountAsTheLimit(t *testing.T) {
	rows := rowsOf(nil, [][]int64{{1 << 61, 5}, {1 << 60, 7}, {1 << 61, 6}})
	for name, solve := range map[string]func(*Solver, []Row, []int32){
		"MFS": (*Solver).MFS, "IMFS": (*Solver).IMFS, "Renew": (*Solver).Renew,
	} {
		plan := []int32{Free, Free}
		solve(&Solver{}, rows, plan)
		if _, sum := valueOf(rows, plan); sum != Limit(2)+7 {
			t.Errorf("%s: plan %v of %d points, want %d", name, plan, sum, Limit(2)+7)
		}
	}
}

func TestInvalidOldPlansAreAccepted(t *testing.T) {
	rows := rowsOf(nil, [][]int64{{5, 0, 3}, {4, 0, 0}})
	for name, plan := range map[string][]int32{
		"job twice":          {0, Free, 0},
		"ineligible machine": {Free, 0, 1},
	} {
		var s Solver
		s.Renew(rows, plan)
		if diff := cmp.Diff([]int32{1, Free, 0}, plan); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
