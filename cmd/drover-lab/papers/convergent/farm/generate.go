package farm

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The streams of a seed: what is drawn from one does not change what is drawn from
// another.
const (
	machineStream = 0x6661726d
	jobStream     = 0x6a6f6273
	gapStream     = 0x67617073
)

// tries is how often a job is drawn other licenses before no machine is said to be able
// to run any.
const tries = 10_000

// UnfitError says that jobs come out that no machine can run, whatever their licenses.
type UnfitError struct{ Job int } // from 0

// Error says what to change.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("job %d: no machine can run it with any of %d draws of its licenses, accepted: more machines, CPUs or license suitability", e.Job, tries)
}

// Generate draws the farm and the jobs of a seed. The error is what is wrong with the
// model, or an *UnfitError.
func Generate(m Model, seed int) (*Instance, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	in := &Instance{}
	in.drawMachines(&m, rand.New(rand.NewPCG(uint64(seed), machineStream)))
	jobs := rand.New(rand.NewPCG(uint64(seed), jobStream))
	gaps := rand.New(rand.NewPCG(uint64(seed), gapStream))
	now := batch.Time(0)
	for i := range m.Jobs {
		gap := gaps.ExpFloat64()
		if i >= m.Backlog {
			now = now.Add(batch.Duration(math.Round(gap * float64(m.Arrival) * float64(Unit))))
		}
		j := Job{Submit: now}
		slack, dated := in.drawJob(&j, &m, jobs)
		if !in.drawLicenses(&j, &m, jobs) {
			return nil, &UnfitError{i}
		}
		if dated {
			j.Deadline = m.Reading.deadline(in, &j, slack)
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in, nil
}

func draw(from Range, r *rand.Rand) int64 { return from.Low + r.Int64N(from.High-from.Low+1) }

// chance is true in so many of a hundred cases.
func chance(percent int, r *rand.Rand) bool { return r.IntN(100) < percent }

func (in *Instance) drawMachines(m *Model, r *rand.Rand) {
	suitable := make([]int64, m.Licenses) // machines that can run each
	for range m.Machines {
		machine := Machine{Score: int32(draw(m.Benchmark, r)), CPUs: int32(draw(m.CPUs, r))}
		for l := range m.Licenses {
			if chance(m.Suitability, r) {
				machine.Licenses = append(machine.Licenses, int32(l))
				suitable[l]++
			}
		}
		in.Machines = append(in.Machines, machine)
	}
	for l := range m.Licenses {
		in.Copies = append(in.Copies, int32(max(1, suitable[l]*draw(m.Ratio, r)/100)))
	}
}

// drawJob draws all but the licenses. How many numbers it takes does not depend on
// whether the job has a deadline. No job needs more CPUs than the largest machine has,
// which matters on small farms alone.
func (in *Instance) drawJob(j *Job, m *Model, r *rand.Rand) (slack int64, dated bool) {
	j.Estimate = batch.Duration(draw(m.Estimate, r)) * Unit
	slack, dated = draw(m.Deadline, r), !chance(m.Undated, r)
	j.CPUs, j.Reference = int32(draw(m.CPUs, r)), int32(draw(m.Benchmark, r))
	largest := slices.MaxFunc(in.Machines, func(a, b Machine) int { return cmp.Compare(a.CPUs, b.CPUs) })
	j.CPUs = min(j.CPUs, largest.CPUs)
	j.Input, j.Place = draw(m.Input, r)*MB, int32(r.IntN(m.Machines))
	return slack, dated
}

// drawLicenses draws the licenses until some machine can run the job; false if none
// ever can.
func (in *Instance) drawLicenses(j *Job, m *Model, r *rand.Rand) bool {
	for range tries {
		j.Licenses = j.Licenses[:0]
		for l := range m.Licenses {
			if chance(m.Needed, r) {
				j.Licenses = append(j.Licenses, int32(l))
			}
		}
		if _, fastest := in.scores(j); fastest > 0 {
			return true
		}
	}
	return false
}
