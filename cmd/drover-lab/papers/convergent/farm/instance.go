package farm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Unit is the paper's simulator time unit.
const Unit = batch.Second

// MB is the unit of inputs.
const MB = 1_000_000

// Instance is a farm and the jobs that come to it.
type Instance struct {
	Machines []Machine
	Copies   []int32 // of each license; all of them are floating
	Jobs     []Job   // in order of submission
}

// Machine is one machine.
type Machine struct {
	Score, CPUs int32
	Licenses    []int32 // that it can run, rising
}

// Job is one job. It can be preempted at any time.
type Job struct {
	Submit    batch.Time
	Deadline  batch.Time // 0 for none
	Estimate  batch.Duration
	Reference int32 // the score of the machine of the estimate
	CPUs      int32
	Licenses  []int32 // one copy each, rising
	Place     int32   // the machine that holds its input
	Input     int64   // bytes
}

// On returns how long the job takes on a machine of a score.
func (j *Job) On(score int32) batch.Duration {
	return j.Estimate.Times(int64(j.Reference), int64(score))
}

// Runs says whether the machine can run the job.
func (m *Machine) Runs(j *Job) bool {
	if m.CPUs < j.CPUs {
		return false
	}
	for _, l := range j.Licenses {
		if _, has := slices.BinarySearch(m.Licenses, l); !has {
			return false
		}
	}
	return true
}

// scores returns the least and the largest score of the machines that can run a job; 0
// and 0 if none can.
func (in *Instance) scores(j *Job) (slowest, fastest int32) {
	for i := range in.Machines {
		m := &in.Machines[i]
		if !m.Runs(j) {
			continue
		}
		if slowest == 0 || m.Score < slowest {
			slowest = m.Score
		}
		fastest = max(fastest, m.Score)
	}
	return slowest, fastest
}

// Hopeless says whether a job has a deadline that no machine could make, even if it had
// the job from its submission on.
func (in *Instance) Hopeless(j *Job) bool {
	_, fastest := in.scores(j)
	return j.Deadline != 0 && (fastest == 0 || j.Submit.Add(j.On(fastest)) > j.Deadline)
}

// NodeName returns the name of a machine.
func NodeName(machine int32) string { return fmt.Sprintf("m%d", machine) }

// LicenseName returns the name of a license.
func LicenseName(license int32) string { return fmt.Sprintf("l%d", license) }

// Platform returns the farm as a policy sees it. A license has a pool of floating
// copies, and the nodes that can run it name it.
func (in *Instance) Platform() batch.Platform {
	var p batch.Platform
	for i := range in.Machines {
		m := &in.Machines[i]
		n := batch.Node{Name: NodeName(int32(i)), Processors: m.CPUs, Score: m.Score}
		for _, l := range m.Licenses {
			n.Licenses = append(n.Licenses, LicenseName(l))
		}
		p.Nodes = append(p.Nodes, n)
	}
	for l, copies := range in.Copies {
		p.Licenses = append(p.Licenses, batch.LicensePool{Name: LicenseName(int32(l)), Copies: copies})
	}
	return p
}

// spec returns a job as a policy sees it.
func (in *Instance) spec(index int) *batch.Job {
	j := &in.Jobs[index]
	s := &batch.Job{
		Handle: handleOf(index), Shape: batch.Shape{Width: j.CPUs, Walltime: j.Estimate},
		Reference: j.Reference, Deadline: j.Deadline, Site: NodeName(j.Place), Input: j.Input, Checkpoint: true,
	}
	for _, l := range j.Licenses {
		s.Licenses = append(s.Licenses, batch.License{Name: LicenseName(l), Copies: 1})
	}
	return s
}

func handleOf(index int) batch.Handle { return batch.Handle(index + 1) }

func indexOf(h batch.Handle) int { return int(h) - 1 }

// Range is a range of whole numbers, with both ends.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Model says how machines and jobs are drawn.
type Model struct {
	Machines, Licenses, Jobs int

	Estimate  Range // of jobs, in units
	Deadline  Range // as Reading says
	Reading   Reading
	CPUs      Range // of machines, and for jobs
	Benchmark Range // of machines, and of jobs' estimates
	Input     Range // of jobs, in MB

	Ratio       Range // copies of a license, in percent of the machines that can run it
	Suitability int   // percent: chance that a machine can run a license
	Needed      int   // percent: chance that a job asks for a license
	Undated     int   // percent: chance that a job has no deadline

	Arrival int // mean time between submissions, in units
	Backlog int // how many of the jobs are there at the beginning
}

// Paper is the model of the paper's figures, with jobs every so many units.
func Paper(arrival int) Model {
	return Model{
		Machines: 150, Licenses: 20, Jobs: 1500,
		Estimate: Range{500, 3000}, Deadline: Range{25, 150}, Reading: Percent,
		CPUs: Range{1, 8}, Benchmark: Range{200, 600}, Input: Range{100, 800},
		Ratio: Range{55, 65}, Suitability: 90, Needed: 20, Undated: 30,
		Arrival: arrival,
	}
}

// The limits of a model.
const (
	MaxMachines = 1 << 16
	MaxJobs     = 1 << 20
	MaxLicenses = 1 << 10
	maxTime     = 1_000_000_000 // units: sums of a million of them are times still
	maxScore    = 1_000_000
	maxMB       = 1_000_000_000
)

// Validate reports everything that is wrong, field by field.
func (m *Model) Validate() error {
	var errs []error
	in := func(field string, v, low, high int) {
		if v < low || v > high {
			errs = append(errs, fmt.Errorf("%s: %d, accepted: %d..%d", field, v, low, high))
		}
	}
	inRange := func(field string, r Range, low, high int64) {
		if r.Low < low || r.High > high || r.Low > r.High {
			errs = append(errs, fmt.Errorf("%s: %d..%d, accepted: a range in %d..%d", field, r.Low, r.High, low, high))
		}
	}
	in("machines", m.Machines, 1, MaxMachines)
	in("licenses", m.Licenses, 0, MaxLicenses)
	in("jobs", m.Jobs, 0, MaxJobs)
	inRange("estimate", m.Estimate, 1, maxTime)
	inRange("deadline", m.Deadline, 1, maxTime)
	inRange("CPUs", m.CPUs, 1, 1024)
	inRange("benchmark", m.Benchmark, 1, maxScore)
	inRange("input", m.Input, 0, maxMB)
	inRange("license ratio", m.Ratio, 1, 100)
	in("license suitability", m.Suitability, 0, 100)
	in("licenses needed", m.Needed, 0, 100)
	in("jobs without deadline", m.Undated, 0, 100)
	in("inter-arrival", m.Arrival, 1, maxTime)
	in("backlog", m.Backlog, 0, max(0, m.Jobs))
	if !m.Reading.known() {
		errs = append(errs, &NameError{"reading of deadlines", string(m.Reading), names(Readings)})
	}
	return errors.Join(errs...)
}

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
	return fmt.Sprintf("job %d: no machine can run it with any of %d draws of its licenses, accepted: more machines, "+
		"CPUs "+
		""+
		""+
		""+
		""+
		""+
		""+
		""+
		"or license suitability", e.Job, tries)
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
