package batch_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// machine is the common part of the oracles: a clock that ticks every second, and the
// waiting and running jobs. It does not use profiles or blocks.
type machine struct {
	jobs    []task
	free    int
	waiting []int // in submission order
	running []int
	start   []int
	ended   bool // a job ended at this step
}

// run ticks until every job has ended. Each second has ends, submissions and a scheduling
// pass, repeated while jobs with runtime 0 end at once.
func (m *machine) run(procs int, jobs []task, submit func(now, job int), ended, pass func(now int)) []int {
	m.jobs, m.free, m.start = jobs, procs, make([]int, len(jobs))
	next, done := 0, 0
	for now := 0; done < len(jobs); now++ {
		for again := true; again; {
			m.running = slices.DeleteFunc(m.running, func(j int) bool {
				over := m.start[j]+jobs[j].Runtime <= now
				if over {
					m.free += jobs[j].Width
					m.ended = true
					done++
				}
				return over
			})
			if m.ended {
				ended(now)
			}
			m.ended = false
			for ; next < len(jobs) && jobs[next].Submit == now; next++ {
				m.waiting = append(m.waiting, next)
				submit(now, next)
			}
			pass(now)
			again = slices.ContainsFunc(m.running, func(j int) bool { return m.start[j]+jobs[j].Runtime <= now })
		}
	}
	return m.start
}

// begin starts the i-th job of the queue.
func (m *machine) begin(now, i int) {
	j := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	m.running = append(m.running, j)
	m.start[j] = now
	m.free -= m.jobs[j].Width
}

func (m *machine) startHeads(now int) {
	for len(m.waiting) > 0 && m.jobs[m.waiting[0]].Width <= m.free {
		m.begin(now, 0)
	}
}

func ignore(int)         {}
func ignoreJob(_, _ int) {}

func fcfsOracle(procs int, jobs []task) []int {
	var m machine
	return m.run(procs, jobs, ignoreJob, ignore, m.startHeads)
}

// easyOracle is Lifka's algorithm: sort the running jobs by planned end and add up their
// processors until the head fits. That instant is the shadow time, and the remaining
// processors are extra. Start the first job behind the head that ends by the shadow time or
// fits into the extra processors. Repeat everything after each start.
func easyOracle(procs int, jobs []task) []int {
	var m machine
	backfillOne := func(now int) bool {
		if len(m.waiting) == 0 {
			return false
		}
		plannedEnd := func(j int) int { return m.start[j] + jobs[j].Walltime }
		ends := slices.Clone(m.running)
		slices.SortFunc(ends, func(a, b int) int { return cmp.Compare(plannedEnd(a), plannedEnd(b)) })
		shadow, extra, head := now, m.free, jobs[m.waiting[0]].Width
		for _, j := range ends {
			if extra >= head && plannedEnd(j) != shadow {
				break
			}
			shadow = plannedEnd(j)
			extra += jobs[j].Width
		}
		extra -= head
		for i, j := range m.waiting[1:] {
			if jobs[j].Width <= m.free && (now+jobs[j].Walltime <= shadow || jobs[j].Width <= extra) {
				m.begin(now, i+1)
				return true
			}
		}
		return false
	}
	return m.run(procs, jobs, ignoreJob, ignore, func(now int) {
		m.startHeads(now)
		for backfillOne(now) {
			continue // compute a new shadow time
		}
	})
}

// cbfOracle keeps the free processors of every future second.
func cbfOracle(procs int, jobs []task) []int {
	var m machine
	horizon := 1
	for _, j := range jobs {
		horizon += j.Submit + j.Walltime
	}
	horizon *= 2
	free := slices.Repeat([]int{procs}, horizon)
	planned := make([]int, len(jobs))
	book := func(start, j, sign int) {
		for t := start; t < start+jobs[j].Walltime; t++ {
			free[t] -= sign * jobs[j].Width
		}
	}
	fit := func(now, j int) {
		start := now
		for t := start; t < start+jobs[j].Walltime; t++ {
			if free[t] < jobs[j].Width {
				start = t + 1
			}
		}
		planned[j] = start
		book(start, j, 1)
	}
	known := make([]bool, len(jobs)) // running jobs whose end was not processed
	return m.run(procs, jobs,
		func(now, j int) { fit(now, j) },
		func(now int) {
			for j := range jobs {
				if known[j] && !slices.Contains(m.running, j) { // the unused rest of an ended job
					known[j] = false
					for t := now; t < m.start[j]+jobs[j].Walltime; t++ {
						free[t] += jobs[j].Width
					}
				}
			}
			for _, j := range m.waiting { // move each job to its earliest fit
				book(planned[j], j, -1)
				fit(now, j)
			}
		},
		func(now int) {
			for i := 0; i < len(m.waiting); {
				if j := m.waiting[i]; planned[j] == now {
					m.begin(now, i)
					known[j] = true
				} else {
					i++
				}
			}
		})
}

func TestPoliciesMatchTheAlgorithmsOfTheirPapers(t *testing.T) {
	for _, p := range policies {
		if p.oracle == nil {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				procs := rapid.IntRange(1, 8).Draw(t, "processors")
				jobs := workload(procs).Draw(t, "workload")
				platform := batch.Processors(int32(procs))
				policy, err := p.make(platform, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := replay(policy, platform, jobs)
				if diff := gocmp.Diff(p.oracle(procs, jobs), got.at); diff != "" {
					t.Fatalf("starts of %+v on %d processors (-oracle +%s):\n%s", jobs, procs, p.name, diff)
				}
				for i := range jobs {
					if got.started[i] != 1 || got.ended[i] != 1 {
						t.Fatalf("job %d started %d times and ended %d times", i+1, got.started[i], got.ended[i])
					}
				}
			})
		})
	}
}

// The queues are longer than a block of package queue, and the profiles have many leaves.
func TestLongQueuesMatchTheAlgorithmsOfTheirPapers(t *testing.T) {
	const procs = 32
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		jobs := make([]task, 300)
		at := 0
		for i := range jobs {
			at += r.IntN(3)
			wall := 1 + r.IntN(60)
			jobs[i] = task{at, 1 << r.IntN(6), wall, r.IntN(wall + 1)}
		}
		for _, p := range policies {
			if p.oracle == nil {
				continue
			}
			platform := batch.Processors(procs)
			policy, err := p.make(platform, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(p.oracle(procs, jobs), replay(policy, platform, jobs).at); diff != "" {
				t.Errorf("seed %d (-oracle +%s):\n%s", seed, p.name, diff)
			}
		}
	}
}
