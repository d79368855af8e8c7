package farm

import (
	"fmt"
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

// Platform returns the farm as a policy is told of it. A license has a pool of floating
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

// spec returns a job as a policy is told of it.
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
