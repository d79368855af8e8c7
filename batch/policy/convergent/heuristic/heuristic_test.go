package heuristic

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// draw draws a small farm with many rare cases: equal scores, machines that are down, licenses
// without copies, bound licenses, jobs exactly at their deadline.
func draw(t *rapid.T) *farm.State {
	s := &farm.State{Now: batch.Time(rapid.Int64Range(0, 40).Draw(t, "now"))}
	number := func(lo, hi int, what string) int32 { return int32(rapid.IntRange(lo, hi).Draw(t, what)) }
	score := rapid.SampledFrom([]int32{1, 2, 3, 4, 200, 401, 600})
	for range number(0, 3, "licenses") {
		s.Licenses = append(s.Licenses, farm.License{
			Copies: number(0, 3, "copies"), Bound: rapid.Bool().Draw(t, "bound"),
		})
	}
	for range number(1, 6, "machines") {
		m := farm.Machine{Score: score.Draw(t, "score"), CPUs: number(1, 3, "cpus"), Down: number(0, 5, "down") == 0}
		for l := range s.Licenses {
			if number(0, 3, "has") > 0 {
				m.Licenses = m.Licenses.With(int32(l))
			}
		}
		s.Machines = append(s.Machines, m)
	}
	places := len(s.Machines) + 2
	if rapid.Bool().Draw(t, "linked") {
		s.Links = &farm.Links{Rate: int64(number(1, 5, "rate"))}
		for range number(0, places, "rows") {
			var rates []int64
			for range s.Machines {
				rates = append(rates, int64(number(1, 5, "rate")))
			}
			if rapid.Bool().Draw(t, "row") {
				rates = nil
			}
			s.Links.Rates = append(s.Links.Rates, rates)
		}
	}
	for i := range number(0, 6, "jobs") {
		s.Jobs = append(s.Jobs, drawJob(t, s, int64(i)*3))
	}
	return s
}

func drawJob(t *rapid.T, s *farm.State, order int64) farm.Job {
	number := func(lo, hi int, what string) int32 { return int32(rapid.IntRange(lo, hi).Draw(t, what)) }
	j := farm.Job{
		Order: order, Submit: batch.Time(number(0, 30, "submit")),
		Estimate: batch.Duration(number(1, 20, "estimate")), Done: batch.Duration(number(0, 5, "done")),
		Reference: rapid.SampledFrom([]int32{0, 1, 2, 4, 300, 601}).Draw(t, "reference"),
		CPUs:      number(0, 4, "cpus"),
		Machine:   number(-1, len(s.Machines)-1, "machine"), Last: number(-1, len(s.Machines)-1, "last"),
	}
	j.Held = j.Machine != farm.NoMachine && number(0, 3, "held") == 0
	if number(0, 4, "deadline?") > 0 {
		j.Deadline = j.Submit + batch.Time(number(1, 60, "deadline"))
	}
	for l := range s.Licenses {
		if rapid.Bool().Draw(t, "needs") {
			j.Licenses = append(j.Licenses, farm.Need{License: int32(l), Copies: number(1, 2, "copies")})
		}
	}
	for range number(0, 3, "inputs") {
		j.Input = append(j.Input, farm.Input{
			Place: number(0, len(s.Machines)+1, "place"), Bytes: int64(number(0, 9, "bytes")),
		})
	}
	return j
}

func drawConstants(t *rapid.T) Constants {
	c := Paper()
	c.DeadlineMin = rapid.SampledFrom([]Constant{0, One / 10, 10 * One}).Draw(t, "min")
	c.DeadlineK = rapid.SampledFrom([]Constant{One / 2, One, 13 * One / 10, 2 * One, 3 * One}).Draw(t, "k")
	c.AgingUnit = 7
	c.WaitPerJob = rapid.Bool().Draw(t, "per job")
	return c
}

// off reports whether an entry differs from its exact value by more than the given units.
func off(got farm.Points, want *big.Rat, units int64) bool {
	d := sub(rat(got), mul(want, rat(farm.Point)))
	return d.Abs(d).Cmp(rat(units)) > 0
}

func TestEachHeuristicMatchesThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := draw(t), drawConstants(t)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		o := oracle{s, c}
		updates := []func(int) map[int32]*big.Rat{o.deadline, o.licenses, o.input, o.wait, o.overhead, o.aging}
		for k, h := range c.Heuristics() {
			var m farm.Matrix
			Collect(h).Fill(s, &m)
			for i := range s.Jobs {
				want := updates[k](i)
				if len(want) != len(m.Row(i).Columns) {
					t.Fatalf("job %d is eligible for %v, want %d machines", i, m.Row(i).Columns, len(want))
				}
				for machine := range s.Machines {
					got := m.At(i, machine)
					exact := want[int32(machine)]
					switch {
					case exact == nil && got != 0:
						t.Fatalf("%s: job %d, machine %d: %d, want not eligible", h.Name(), i, machine, got)
					case exact != nil && got < 1:
						t.Fatalf("%s: job %d, machine %d: %d, want at least a unit", h.Name(), i, machine, got)
					case exact != nil && off(got-1, exact, int64(1+len(s.Jobs[i].Input))):
						f, _ := exact.Float64()
						t.Fatalf("%s: job %d, machine %d: %v points, want %v", h.Name(), i, machine,
							float64(got)/float64(farm.Point), f)
					}
				}
			}
		}
	})
}

func TestTheEntryIsTheSumOfTheHeuristics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := draw(t), drawConstants(t)
		var all farm.Matrix
		Collect(c.Heuristics()...).Fill(s, &all)
		for i := range s.Jobs {
			for machine := range s.Machines {
				if all.At(i, machine) == 0 {
					continue
				}
				sum := farm.Points(1)
				for _, h := range c.Heuristics() {
					var m farm.Matrix
					Collect(h).Fill(s, &m)
					sum += m.At(i, machine) - 1
				}
				if got := all.At(i, machine); got != sum {
					t.Fatalf("job %d, machine %d: %d together, %d one by one", i, machine, got, sum)
				}
			}
		}
	})
}

func TestAnIncrementalPassEqualsAPassFromScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := draw(t), drawConstants(t)
		which := func() []Heuristic { return c.Heuristics() }
		if k := rapid.IntRange(-6, 5).Draw(t, "alone"); k >= 0 { // no other heuristic recomputes rows
			which = func() []Heuristic { return c.Heuristics()[k : k+1] }
		}
		var kept farm.Matrix
		collection := Collect(which()...)
		order := int64(100)
		for range rapid.IntRange(1, 12).Draw(t, "passes") {
			happen(t, s, &order)
			collection.Fill(s, &kept)
			var fresh farm.Matrix
			Collect(which()...).Fill(s, &fresh)
			if kept.Len() != len(s.Jobs) {
				t.Fatalf("%d rows for %d jobs", kept.Len(), len(s.Jobs))
			}
			for i := range s.Jobs {
				for machine := range s.Machines {
					if kept.At(i, machine) != fresh.At(i, machine) {
						t.Fatalf("job %d, machine %d: %d, from scratch %d", i, machine, kept.At(i, machine),
							fresh.At(i, machine))
					}
				}
			}
			if kept.Len() > 0 {
				kept.Clear(rapid.IntRange(0, kept.Len()-1).Draw(t, "cleared"))
			}
		}
	})
}

// happen applies one random change to a state.
func happen(t *rapid.T, s *farm.State, order *int64) {
	s.Now += batch.Time(rapid.Int64Range(0, 4).Draw(t, "later"))
	which := rapid.IntRange(0, 1000).Draw(t, "which")
	m := which % len(s.Machines)
	what := rapid.SampledFrom([]string{
		"nothing", "submit", "submit", "end", "progress", "move", "down", "add", "remove", "score", "copies", "input",
		"cpus", "links", "reference", "hold",
	}).Draw(t, "what")
	var j *farm.Job
	if len(s.Jobs) > 0 {
		j = &s.Jobs[which%len(s.Jobs)]
	}
	switch {
	case what == "submit":
		*order++
		s.Jobs = append(s.Jobs, drawJob(t, s, *order))
	case what == "down":
		s.Machines[m].Down = !s.Machines[m].Down
	case what == "score":
		s.Machines[m].Score++
	case what == "add":
		s.Machines, s.Links = append(s.Machines, s.Machines[m]), nil
	case what == "copies" && len(s.Licenses) > 0:
		s.Licenses[which%len(s.Licenses)].Copies ^= 1
	case what == "links":
		s.Links = nil
	case j == nil:
	case what == "remove" && len(s.Machines) > 1:
		s.Machines, s.Links = s.Machines[:len(s.Machines)-1], nil
		for i := range s.Jobs {
			s.Jobs[i].Last = min(s.Jobs[i].Last, int32(len(s.Machines)-1))
			s.Jobs[i].Machine = min(s.Jobs[i].Machine, int32(len(s.Machines)-1))
		}
	case what == "end":
		at := which % len(s.Jobs)
		s.Jobs = append(s.Jobs[:at], s.Jobs[at+1:]...)
	case what == "progress":
		j.Done++
	case what == "move":
		j.Last = int32(m)
	case what == "input":
		j.Input = append([]farm.Input(nil), farm.Input{Place: int32(m), Bytes: int64(which)})
	case what == "hold":
		j.Held, j.Machine = !j.Held, int32(m)
	case what == "cpus":
		j.CPUs++
	case what == "reference":
		j.Reference++
	}
}
