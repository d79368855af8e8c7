package matching

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// paperlike draws rows like those of the paper's heuristics: the base holds points for age and
// licenses; the cells depend on remaining time, deadline and input location.
func paperlike(r *rand.Rand, jobs, machines int) []Row {
	const point = 1 << 20
	scores, cpus := make([]float64, machines), make([]int, machines)
	for m := range scores {
		scores[m], cpus[m] = float64(200+r.IntN(401)), 1+r.IntN(8)
	}
	rows := make([]Row, jobs)
	for i := range rows {
		age := float64(10 * (jobs - i)) // one job every 10 units
		rows[i].Base = int64((0.02*age + 2.5*r.Float64()) * point)
		rows[i].Cells = make([]int64, machines)
		need, work := 1+r.IntN(8), float64(500+r.IntN(2500))*float64(200+r.IntN(401))
		urgency, home := max(0, r.Float64()*20-10), r.IntN(machines)
		for m := range scores {
			if cpus[m] < need || r.IntN(100) < 30 {
				continue
			}
			takes := work / scores[m]
			v := 0.1 + 4*(1-takes/9000) + urgency*(1-takes/9000)
			if m == home {
				v += 3
			}
			rows[i].Cells[m] = int64(v * point)
		}
	}
	return rows
}

// event is one end and one submission, 10 units later: a job leaves its machine, all age, and
// running jobs make progress and have 8 points on their machines.
func event(r *rand.Rand, rows []Row, plan []int32) {
	const point = 1 << 20
	m := r.IntN(len(plan))
	for plan[m] == Free {
		m = r.IntN(len(plan))
	}
	row := plan[m]
	plan[m] = Free
	rows[row] = paperlike(r, 1, len(plan))[0]
	for i := range rows {
		rows[i].Base += point / 5
	}
	for m, row := range plan {
		if row != Free {
			rows[row].Cells[m] += point / 100
		}
	}
}

// held adds by to the entries of a plan's associations, for overhead minimization.
func held(rows []Row, plan []int32, by int64) {
	for m, row := range plan {
		if row != Free {
			rows[row].Cells[m] += by
		}
	}
}

var sizes = []struct{ jobs, machines int }{
	{150, 150},
	{1500, 150},
	{6000, 150},
	{1500, 300},
	{1500, 600},
	{2500, 250},
	{5000, 500},
	{10000, 1000},
	{1000, 1000},
}

func BenchmarkFromScratch(b *testing.B) {
	for _, size := range sizes {
		rows := paperlike(rand.New(rand.NewPCG(1, 1)), size.jobs, size.machines)
		for _, a := range []struct {
			name  string
			solve func(*Solver, []Row, []int32)
		}{{"MIS", (*Solver).MIS}, {"MFS", (*Solver).MFS}} {
			b.Run(fmt.Sprintf("%s/%dx%d", a.name, size.jobs, size.machines), func(b *testing.B) {
				var s Solver
				plan := make([]int32, size.machines)
				b.ReportAllocs()
				for b.Loop() {
					a.solve(&s, rows, plan)
				}
			})
		}
	}
}

func BenchmarkAfterOneEvent(b *testing.B) {
	const hold = 8 << 20
	for _, size := range sizes {
		for _, a := range []struct {
			name  string
			solve func(*Solver, []Row, []int32)
		}{{"IMFS", (*Solver).IMFS}, {"Renew", (*Solver).Renew}} {
			b.Run(fmt.Sprintf("%s/%dx%d", a.name, size.jobs, size.machines), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				rows := paperlike(r, size.jobs, size.machines)
				var s Solver
				plan := make([]int32, size.machines)
				s.MFS(rows, plan)
				held(rows, plan, hold)
				var old []int32
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					old = append(old[:0], plan...)
					event(r, rows, plan)
					for m := range old {
						if plan[m] == Free {
							old[m] = Free // another job is there
						}
					}
					b.StartTimer()
					a.solve(&s, rows, plan)
					b.StopTimer()
					held(rows, old, -hold)
					held(rows, plan, hold)
					b.StartTimer()
				}
			})
		}
	}
}

// When the job with the longest remaining time ends, the wait points of all others change.
func BenchmarkAfterAllCellsChanged(b *testing.B) {
	const hold = 8 << 20
	for _, size := range sizes {
		b.Run(fmt.Sprintf("Renew/%dx%d", size.jobs, size.machines), func(b *testing.B) {
			rows := paperlike(rand.New(rand.NewPCG(1, 1)), size.jobs, size.machines)
			var s Solver
			plan := make([]int32, size.machines)
			s.MFS(rows, plan)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				for _, r := range rows {
					for m, c := range r.Cells {
						if i%2 == 0 {
							r.Cells[m] = c - c/32
						} else {
							r.Cells[m] = c + c/31
						}
					}
				}
				held(rows, plan, hold)
				old := slices.Clone(plan)
				b.StartTimer()
				s.Renew(rows, plan)
				b.StopTimer()
				held(rows, old, -hold)
				b.StartTimer()
			}
		})
	}
}

// Run with -v to see the distance of IMFS from MFS over events.
func TestIMFSStaysCloseToMFS(t *testing.T) {
	const hold = 8 << 20
	for _, size := range []struct{ jobs, machines int }{{100, 150}, {150, 150}, {300, 150}, {1500, 150}} {
		r := rand.New(rand.NewPCG(8, 8))
		rows := paperlike(r, size.jobs, size.machines)
		var s, fresh Solver
		plan, exact := make([]int32, size.machines), make([]int32, size.machines)
		s.MFS(rows, plan)
		held(rows, plan, hold)
		var worst, total float64
		const events = 300
		same := 0
		for range events {
			event(r, rows, plan)
			old := slices.Clone(plan)
			s.IMFS(rows, plan)
			fresh.MFS(rows, exact)
			n, got := valueOf(rows, plan)
			most, want := valueOf(rows, exact)
			if n != most || got > want {
				t.Fatalf("%d jobs, %d machines: %d associations of %d, want %d of at most %d", size.jobs, size.machines,
					n, got, most, want)
			}
			if got == want {
				same++
			}
			distance := 1 - float64(got)/float64(want)
			worst, total = max(worst, distance), total+distance
			held(rows, old, -hold)
			held(rows, plan, hold)
		}
		t.Logf("%d jobs, %d machines: as good as MFS after %d of %d events; mean distance %.4f%%, worst %.4f%%",
			size.jobs, size.machines, same, events, 100*total/events, 100*worst)
		if total/events > 0.01 {
			t.Errorf("%d jobs, %d machines: mean distance %.2f%%, want at most 1%%", size.jobs, size.machines,
				100*total/events)
		}
	}
}
