package heuristic

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// any64 draws numbers of all magnitudes.
func any64(most int64) *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		n := rapid.Int64Range(1, most).Draw(t, "number") >> rapid.IntRange(0, 62).Draw(t, "shift")
		return max(n, 1)
	})
}

func TestEntriesStayInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		s.Now = batch.Time(any64(math.MaxInt64).Draw(t, "now"))
		for i := range s.Machines {
			s.Machines[i].Score = int32(any64(math.MaxInt32).Draw(t, "score"))
		}
		for i := range s.Jobs {
			j := &s.Jobs[i]
			j.Estimate = batch.Duration(any64(int64(farm.Longest)).Draw(t, "estimate"))
			j.Done = batch.Duration(any64(math.MaxInt64).Draw(t, "done") - 1)
			j.Reference = int32(any64(math.MaxInt32).Draw(t, "reference"))
			j.Submit = batch.Time(any64(math.MaxInt64/2).Draw(t, "submit"))
			j.Deadline = j.Submit + batch.Time(any64(math.MaxInt64/2).Draw(t, "deadline"))
			for k := range j.Input {
				j.Input[k].Bytes = any64(math.MaxInt64).Draw(t, "bytes")
			}
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		c := Paper()
		for _, key := range Keys() {
			*c.named(key) = Constant(any64(int64(most)).Draw(t, key))
		}
		c.DeadlineMin = min(c.DeadlineMin, c.DeadlineMax)
		c.DeadlineK = max(kLeast, min(c.DeadlineK, kMost))
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		var m farm.Matrix
		Collect(c.Heuristics()...).Fill(s, &m)
		for i := range s.Jobs {
			for machine := range s.Machines {
				got, eligible := m.At(i, machine), s.Eligible(&s.Jobs[i], int32(machine))
				if eligible != (got > 0) || got < 0 || got > 6*farm.Ceiling+1 {
					t.Fatalf("job %d, machine %d, eligible %t: %d", i, machine, eligible, got)
				}
			}
		}
	})
}

func TestTheRiseIsIndependentOfMagnitude(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		for i := range s.Machines {
			s.Machines[i].Score = int32(any64(math.MaxInt32).Draw(t, "score"))
		}
		for i := range s.Jobs {
			j := &s.Jobs[i]
			j.Estimate, j.Done = batch.Duration(any64(int64(farm.Longest)).Draw(t, "estimate")), 0
			j.Reference = int32(any64(math.MaxInt32).Draw(t, "reference"))
			aim := s.Machines[i%len(s.Machines)].Score // a machine that can just meet the deadline
			if rest := j.On(aim); rest < batch.Duration(math.MaxInt64/8) {
				j.Deadline = max(s.Now, j.Submit).Add(rest/1000*batch.Duration(rapid.Int64Range(800, 3000).Draw(t,
					"part")) + 1)
			}
		}
		c := Paper()
		c.DeadlineK = Constant(rapid.Int64Range(int64(One), int64(kMost)).Draw(t, "k"))
		var m farm.Matrix
		Collect(c.Heuristics()[0]).Fill(s, &m)
		o := oracle{s, c}
		for i := range s.Jobs {
			for machine, exact := range o.deadline(i) {
				got := m.At(i, int(machine)) - 1
				if off(got, exact, 64) { // of 2^20 per point
					f, _ := exact.Float64()
					t.Fatalf("job %d, machine %d: %v points, want %v", i, machine, float64(got)/float64(farm.Point), f)
				}
			}
		}
	})
}

func TestAHeuristicAddsAtMostTheCeiling(t *testing.T) {
	s := three(farm.Job{Deadline: 1401 * seconds, Last: farm.NoMachine})
	for range 9 {
		s.Machines = append(s.Machines, s.Machines[0])
	}
	var m farm.Matrix
	Collect(&Deadline{Max: most, K: 13 * One / 10}).Fill(s, &m)
	if got := m.At(0, 2); got < farm.Ceiling/3 || got > farm.Ceiling {
		t.Errorf("deadline: %d", got)
	}
	s.Now = math.MaxInt64
	for _, a := range []Heuristic{
		&Aging{Weight: most, Unit: 1}, &Aging{Weight: One / 50, Unit: 1}, &Aging{Weight: One / 50},
	} {
		var m farm.Matrix
		Collect(a).Fill(s, &m)
		if got := m.At(0, 0); got != farm.Ceiling+1 {
			t.Errorf("%+v: %d, want %d", a, got, farm.Ceiling+1)
		}
	}
}

func TestPaperFarmsMatchTheFormulas(t *testing.T) {
	rising := 0
	for seed := range uint64(5) {
		w := newWorld(seed, 12, 5)
		for range 30 {
			w.s.Now = w.s.Now.Add(60 * batch.Second)
			w.submit()
		}
		w.run()
		w.advance(5 * batch.Minute)
		o := oracle{&w.s, Paper()}
		updates := []func(int) map[int32]*big.Rat{o.deadline, o.licenses, o.input, o.wait, o.overhead, o.aging}
		var m farm.Matrix
		Collect(Paper().Heuristics()...).Fill(&w.s, &m)
		for i := range w.s.Jobs {
			sums := map[int32]*big.Rat{}
			for k, update := range updates {
				for machine, points := range update(i) {
					if sums[machine] == nil {
						sums[machine] = rat(0)
					}
					sums[machine] = add(sums[machine], points)
					if k == 0 && points.Cmp(rat(1)) > 0 {
						rising++
					}
				}
			}
			for machine, exact := range sums {
				if got := m.At(i, int(machine)); off(got-1, exact, 7) {
					t.Fatalf("seed %d, job %d, machine %d: %d units off", seed, i, machine, got)
				}
			}
		}
	}
	if rising < 200 {
		t.Errorf("only %d entries in the last phase before a deadline", rising)
	}
}

func TestARemovedMachineRemovesItsColumn(t *testing.T) {
	s := three(farm.Job{Last: 2}, farm.Job{Last: farm.NoMachine})
	s.Jobs[0].Machine = 2
	c := Collect(Paper().Heuristics()...)
	var m farm.Matrix
	c.Fill(s, &m)
	s.Machines[2].Down = true
	c.Fill(s, &m)
	for i := range s.Jobs {
		if m.At(i, 2) != 0 || m.At(i, 1) == 0 {
			t.Errorf("job %d: %d on the machine that left, %d on another", i, m.At(i, 2), m.At(i, 1))
		}
	}
	for i := range s.Machines {
		s.Machines[i].Down = true
	}
	c.Fill(s, &m)
	if m.Row(0).Slowest != 0 || len(m.Row(0).Columns) != 0 {
		t.Error("a job is eligible for a machine of a farm that is down")
	}
}

func TestAHeldJobIsEligibleOnItsMachineOnly(t *testing.T) {
	s := three(farm.Job{Last: 1}, farm.Job{Last: farm.NoMachine})
	s.Jobs[0].Machine, s.Jobs[0].Held = 1, true
	c := Collect(Paper().Heuristics()...)
	var m farm.Matrix
	c.Fill(s, &m)
	if m.At(0, 0) != 0 || m.At(0, 1) == 0 || m.At(0, 2) != 0 || m.At(1, 1) == 0 {
		t.Errorf("entries %v and %v", m.Row(0).Cells, m.Row(1).Cells)
	}
	s.Machines[1].Down = true
	c.Fill(s, &m)
	if n := len(m.Row(0).Columns); n != 0 {
		t.Errorf("its machine is down, and it is eligible for %d", n)
	}
}

func TestOnlyChangedRowsAreRecomputed(t *testing.T) {
	var jobs []farm.Job
	for range 20 {
		jobs = append(jobs, farm.Job{Last: farm.NoMachine, Deadline: 9000 * seconds})
	}
	jobs = append(jobs, farm.Job{Last: farm.NoMachine, Estimate: batch.Hour, Reference: 100})
	s := three(jobs...)
	c := Collect(Paper().Heuristics()...)
	var m farm.Matrix
	for _, step := range []struct {
		what   string
		change func()
		want   int
	}{
		{"first pass", func() {}, 21},
		{"nothing", func() {}, 0},
		{"time", func() { s.Now += seconds }, 0},
		{"move", func() { s.Jobs[3].Last = 1 }, 1},
		{"progress", func() { s.Jobs[3].Done++ }, 1},
		{"end", func() { s.Jobs = s.Jobs[1:] }, 0},
		{"progress of the longest job", func() { s.Jobs[19].Done = batch.Second }, 19},
		{"closer deadline", func() { s.Jobs[5].Deadline = s.Now + 300*seconds }, 1},
		{"time passes before the deadline", func() { s.Now += seconds }, 1},
		{"progress before the deadline", func() { s.Jobs[5].Done++ }, 1},
		{"missed deadline", func() { s.Now += 300 * seconds }, 1},
		{"time passes after the deadline", func() { s.Now += 300 * seconds }, 0},
	} {
		step.change()
		c.Fill(s, &m)
		if c.Written() != step.want {
			t.Errorf("%s: %d rows, want %d", step.what, c.Written(), step.want)
		}
	}
}

func TestProgressNearADeadlineRecomputesTheRow(t *testing.T) {
	s := three(farm.Job{Last: farm.NoMachine, Deadline: 1300 * seconds})
	c := Collect(deadline())
	var kept, fresh farm.Matrix
	c.Fill(s, &kept)
	s.Jobs[0].Done = batch.Second
	c.Fill(s, &kept)
	Collect(deadline()).Fill(s, &fresh)
	if kept.At(0, 1) != fresh.At(0, 1) {
		t.Errorf("%d, from scratch %d", kept.At(0, 1), fresh.At(0, 1))
	}
}

func TestAPassDoesNotAllocate(t *testing.T) {
	w := newWorld(3, 30, 8)
	for range 100 {
		w.submit()
	}
	w.run()
	c := Collect(Paper().Heuristics()...)
	var m farm.Matrix
	c.Fill(&w.s, &m)
	job := w.s.Jobs[4]
	if n := testing.AllocsPerRun(20, func() {
		w.advance(batch.Second)
		w.order++
		job.Order = w.order
		w.s.Jobs = append(w.s.Jobs[:4], w.s.Jobs[5:]...)
		w.s.Jobs = append(w.s.Jobs, job)
		c.Fill(&w.s, &m)
	}); n > 0 {
		t.Errorf("%v allocations in a pass", n)
	}
}
