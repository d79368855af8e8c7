package pack

import (
	"compress/gzip"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// paperlike draws a state like those of section 5.3.2: quad-core nodes; jobs with one task need
// a quarter of a node, other jobs a whole node per task, often with a power of two tasks.
func paperlike(r *rand.Rand, nodes int32, jobs int) State {
	s := State{Machine: Machine{Nodes: nodes, CPU: int64(batch.One), Memory: 100}}
	for _, order := range r.Perm(jobs) {
		g := Group{Tasks: 1, CPU: batch.One / 4, Memory: 10}
		if r.IntN(4) > 0 {
			g.Tasks, g.CPU = 1<<(1+r.IntN(6)), batch.One
			if r.IntN(4) == 0 {
				g.Tasks += r.Int32N(g.Tasks)
			}
		}
		if r.IntN(100) >= 55 {
			g.Memory = 20 + 10*r.Int64N(9)
		}
		flow := r.Int64N(100_000)
		s.Jobs = append(s.Jobs, Job{
			Order: int64(order), Groups: []Group{g},
			Flow: batch.Duration(flow) * batch.Second, Virtual: batch.Duration(r.Int64N(flow+1)) * batch.Second,
		})
	}
	return s
}

// light scales the memory of a state so that all jobs fit.
func light(r *rand.Rand, s State) State {
	for i := range s.Jobs {
		g := &s.Jobs[i].Groups[0]
		g.Tasks, g.Memory = min(g.Tasks, 1<<r.IntN(4)), min(g.Memory, 40)
	}
	return s
}

// pinSome pins every eighth job that a packing keeps to its nodes.
func pinSome(s State) State {
	var p Packer
	kept, _ := p.Yield(&s.Machine, s.Jobs)
	s.Jobs = slices.Clone(s.Jobs)
	for i := 0; i < kept; i += 8 {
		s.Jobs[i].Pinned = slices.Clone(p.Placements(i))
	}
	return s
}

// states have the sizes that the paper reports on, from its 128 nodes. In half of them the jobs
// need more memory than there is.
func states(pinned bool) []State {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]State, 500)
	for i := range all {
		all[i] = paperlike(r, 128, 11+r.IntN(92))
		if i%2 == 0 {
			all[i] = light(r, all[i])
		}
		if pinned {
			all[i] = pinSome(all[i])
		}
	}
	return all
}

// simulated returns recorded states of simulations, if there are any.
func simulated(tb testing.TB) []State {
	file, err := os.Open("testdata/states.jsonl.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := ReadStates(plain)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// measure packs one state after the other. The additional metrics are over the states, with the
// fastest pass of each, so that other load on the machine does not count.
func measure(b *testing.B, all []State, pack func(*Packer, *State)) {
	var p Packer
	for i := range all {
		pack(&p, &all[i])
	}
	fastest := slices.Repeat([]time.Duration{time.Hour}, len(all))
	b.ReportAllocs()
	for i := 0; b.Loop(); i = (i + 1) % len(all) {
		begin := time.Now()
		pack(&p, &all[i])
		fastest[i] = min(fastest[i], time.Since(begin))
	}
	slices.Sort(fastest)
	b.ReportMetric(float64(fastest[len(all)*99/100]), "p99-ns")
	b.ReportMetric(float64(fastest[len(all)-1]), "max-ns")
}

func packYield(p *Packer, s *State) { p.Yield(&s.Machine, s.Jobs) }

func packStretch(p *Packer, s *State) { p.Stretch(&s.Machine, s.Jobs, 600*batch.Second) }

func BenchmarkMCB8(b *testing.B) {
	if all := simulated(b); all != nil {
		b.Run("simulated", func(b *testing.B) { measure(b, all, packYield) })
	}
	b.Run("11-102 jobs", func(b *testing.B) { measure(b, states(false), packYield) })
	b.Run("11-102 jobs, some pinned", func(b *testing.B) { measure(b, states(true), packYield) })
	b.Run("stretch", func(b *testing.B) { measure(b, states(false), packStretch) })

	r := rand.New(rand.NewPCG(3, 4))
	large := light(r, paperlike(r, 1000, 1000))
	b.Run("1000 jobs, 1000 nodes", func(b *testing.B) { measure(b, []State{large}, packYield) })
	b.Run("1000 jobs, 1000 nodes, some pinned", func(b *testing.B) { measure(b, []State{pinSome(large)}, packYield) })
	b.Run("1000 jobs, 1000 nodes, stretch", func(b *testing.B) { measure(b, []State{large}, packStretch) })
	b.Run("3000 jobs, 128 nodes", func(b *testing.B) { measure(b, []State{paperlike(r, 128, 3000)}, packYield) })
	b.Run("3000 bulky jobs, 128 nodes", func(b *testing.B) { measure(b, []State{bulky(r, 128, 3000)}, packYield) })
	b.Run("1000 odd jobs, 1000 nodes", func(b *testing.B) { measure(b, []State{odd(r, 1000, 1000)}, packYield) })
}

// odd draws jobs that are all different, so that no step repeats.
func odd(r *rand.Rand, nodes int32, jobs int) State {
	s := State{Machine: Machine{Nodes: nodes, CPU: int64(batch.One), Memory: 1 << 40}}
	for i := range jobs {
		s.Jobs = append(s.Jobs, Job{Order: int64(i), Groups: []Group{{
			Tasks: 1 + r.Int32N(5), CPU: 1 + batch.Share(r.Int32N(int32(batch.One))), Memory: 1 + r.Int64N(1<<39),
		}}})
	}
	return s
}

// bulky draws jobs whose tasks leave much memory that no task can use, so that sums admit many
// jobs that do not fit.
func bulky(r *rand.Rand, nodes int32, jobs int) State {
	s := paperlike(r, nodes, jobs)
	for i := range s.Jobs {
		s.Jobs[i].Groups[0].Tasks = 1
		s.Jobs[i].Groups[0].Memory = []int64{35, 36, 37, 55, 56, 23, 22}[r.IntN(7)]
	}
	return s
}

func BenchmarkMatch(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, s := range map[string]State{
		"100 jobs, 128 nodes":   light(r, paperlike(r, 128, 100)),
		"1000 jobs, 1000 nodes": light(r, paperlike(r, 1000, 1000)),
	} {
		var was, p Packer
		kept, _ := was.Yield(&s.Machine, s.Jobs)
		rest := s.Jobs[1:kept]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Yield(&s.Machine, rest)
				p.Match(func(job int) []Placement { return was.Placements(job + 1) })
			}
		})
	}
}

func TestAGrownPackerDoesNotAllocate(t *testing.T) {
	var p Packer
	s := states(true)[0]
	r := rand.New(rand.NewPCG(7, 8))
	large := paperlike(r, 256, 300)
	current := func(int) []Placement { return nil }
	work := func() {
		packYield(&p, &large)
		p.Match(current)
		packStretch(&p, &large)
		packYield(&p, &s)
	}
	work()
	if n := testing.AllocsPerRun(10, work); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
