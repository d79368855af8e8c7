package convergent_test

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// site reports events to a policy one by one, as a live driver does.
type site struct {
	t *testing.T
	p batch.Policy
}

func (s site) tell(at int, ev batch.Event) { s.p.Apply(batch.Time(at)*second, &ev) }

func (s site) submit(at int, j batch.Job) {
	s.tell(at, batch.Event{Kind: batch.Submit, Job: j.Handle, Spec: &j})
}

func (s site) decides(at int, want ...string) {
	s.t.Helper()
	var out batch.Decisions
	s.p.Decide(batch.Time(at)*second, &out)
	got := []string{}
	for _, d := range out.List {
		line := fmt.Sprintf("%v #%d", d.Kind, d.Job)
		for _, l := range d.Allocation {
			line += fmt.Sprintf(" m%d", l.Node)
		}
		got = append(got, line)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("at %d: %v, want %v", at, got, want)
	}
}

// The copy of a job that must leave becomes free when the job has left, although the machine
// for the next job is free earlier.
func TestALicenseIsFreeWhenItsJobHasLeft(t *testing.T) {
	p := machines(100, 50)
	p.Nodes[0].Processors = 1
	p.Licenses = []batch.LicensePool{{Name: "cad", Copies: 1}}
	s := site{t, policy(t, p, batch.Settings{"algorithm": "EDF"})}
	s.submit(0, job(1, 100, 0, "cad"))
	s.decides(0, "start #1 m0")
	urgent := job(2, 10, 50, "cad")
	urgent.Shape.Width = 2
	s.tell(5, batch.Event{Kind: batch.Submit, Job: 2, Spec: &urgent})
	s.decides(5, "pause #1")
	s.decides(6)
	s.tell(7, batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	s.decides(7, "start #2 m1")
	s.tell(17, batch.Event{Kind: batch.Finish, Job: 2})
	s.decides(17, "resume #1 m0")
}

// A paused job 1 without a checkpoint would keep 6 of 10 bytes, and job 2 could not run. With a
// checkpoint job 1 is preempted.
func TestAResidentJobKeepsItsMemory(t *testing.T) {
	for _, resident := range []bool{true, false} {
		p := machines(100)
		p.Nodes[0].Memory = 10
		s := site{t, policy(t, p, batch.Settings{"algorithm": "EDF"})}
		one, two := job(1, 100, 0), job(2, 10, 50)
		one.Memory, one.Resident, two.Memory = 6, resident, 6
		s.submit(0, one)
		s.decides(0, "start #1 m0")
		s.submit(5, two)
		if resident {
			s.decides(5)
		} else {
			s.decides(5, "pause #1")
		}
	}
}

// Without preemption job 1 keeps the only copy, however urgent job 2 is, and job 3 gets the
// free machine.
func TestRunningJobsKeepTheirLicensesWithoutPreemption(t *testing.T) {
	for _, a := range []string{"CS_inp", "CS_ninp"} {
		p := machines(100, 100)
		p.Licenses = []batch.LicensePool{{Name: "cad", Copies: 1}}
		s := site{t, policy(t, p, batch.Settings{"algorithm": a, "overhead": "0"})}
		s.submit(0, job(1, 1000, 0, "cad"))
		s.decides(0, "start #1 m0")
		s.submit(5, job(2, 40, 50, "cad"))
		s.decides(5)
		s.submit(6, job(3, 1000, 0))
		s.decides(6, "start #3 m1")
	}
}

// Job 1 came first, but can start only at 5. No job has a deadline, so job 2 continues.
func TestEqualDeadlinesDoNotPreempt(t *testing.T) {
	p := machines(100)
	s := site{t, policy(t, p, batch.Settings{"algorithm": "EDF"})}
	one := job(1, 10, 0)
	one.EarliestStart = 5 * second
	s.submit(0, one)
	s.submit(0, job(2, 10, 0))
	s.decides(0, "start #2 m0")
	if got := s.p.Wake(); got != 5*second {
		t.Errorf("it wakes at %d", got)
	}
	s.decides(5)
}

// The driver has not reported job 1 when its machine is back: the job has been running all
// along.
func TestAReturningMachineStillRunsItsJob(t *testing.T) {
	p := machines(100, 50)
	s := site{t, policy(t, p, nil)}
	s.submit(0, job(1, 100, 0))
	s.decides(0, "start #1 m0")
	s.tell(5, batch.Event{Kind: batch.NodeDown, Node: 0})
	s.decides(5)
	s.tell(9, batch.Event{Kind: batch.NodeUp, Node: 0})
	s.decides(9)
	s.tell(100, batch.Event{Kind: batch.Finish, Job: 1})
	s.submit(101, job(2, 10, 0))
	s.decides(101, "start #2 m0")
}
