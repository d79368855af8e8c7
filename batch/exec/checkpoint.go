package exec

import (
	"fmt"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// parked is what remains of an attempt that ended at a checkpoint: its processors, which are
// free once the policy has received Stopped, and its job there.
type parked struct {
	job        *batch.Job // as the policy knows it
	allocation []batch.NodeAllocation
	next       []batch.NodeAllocation // target of a move, booked too; nil if it is paused
	progress   batch.Duration
}

// requestCheckpoint asks a program for a checkpoint, once, and not before Checkpoint.After.
func (s *System) requestCheckpoint(now batch.Time, a *attempt) {
	r := a.run
	if r.checkpointAsked || r.due {
		return
	}
	if at := r.launched.Add(r.how.After); now < at {
		r.due = true
		s.timers.set(a, at)
		return
	}
	s.stopAtCheckpoint(now, a)
}

// stopAtCheckpoint tells a program to write its checkpoint and exit.
func (s *System) stopAtCheckpoint(now batch.Time, a *attempt) {
	r := a.run
	r.due, r.checkpointAsked = false, true
	s.timers.set(a, now.Add(r.how.Grace))
	if len(r.how.Command) == 0 {
		s.signal(a, unix.SignalNum(r.how.Signal)) // one that has ended proceeds to its Finish
		return
	}
	r.gone = make(chan struct{})
	go s.prepare(a, launchSpecOf(a), r.gone)
}

// prepare is the goroutine of a checkpoint's command. It ends with the program.
func (s *System) prepare(a *attempt, l launchSpec, gone <-chan struct{}) {
	s.send(note{attempt: a, prepared: true, err: s.runCheckpoint(&l, gone)})
}

// runCheckpoint runs the command. Its output goes to the program's stderr.
func (s *System) runCheckpoint(l *launchSpec, gone <-chan struct{}) error {
	program, err := s.programs.Program(l.key, l.shape)
	if err != nil {
		return err
	}
	if program.Checkpoint == nil || len(program.Checkpoint.Command) == 0 {
		return fmt.Errorf("the program has ended")
	}
	spec := s.spec(l, &program)
	g, err := process.Start(process.Spec{
		Args: program.Checkpoint.Command, Env: spec.Env, Dir: spec.Dir, Stdout: spec.Stderr, Stderr: spec.Stderr,
		Append: true,
	})
	if err != nil {
		return err
	}
	over := make(chan process.Exit, 1)
	go func() { over <- g.Wait() }()
	var exit process.Exit
	select {
	case exit = <-over:
	case <-gone:
		_ = g.Signal(syscall.SIGKILL) // an error means that it has ended
		exit = <-over
	}
	if exit.Signal != 0 || exit.Code != 0 {
		return fmt.Errorf("%s", exitReason(exit.Code, exit.Signal))
	}
	return nil
}

// prepared continues after a checkpoint's command.
func (s *System) prepared(a *attempt, err error) {
	switch {
	case !a.live() || a.run.ending != 0:
	case err != nil:
		s.abortCheckpoint(a, "its checkpoint command failed: "+err.Error())
	case a.run.how.Signal != "":
		s.signal(a, unix.SignalNum(a.run.how.Signal))
	}
}

// abortCheckpoint kills a program that did not stop at a checkpoint in time.
func (s *System) abortCheckpoint(a *attempt, why string) {
	s.log.Warn("checkpoint failed, killing the process group", "job", a.key.Job, "reason", why)
	if s.signal(a, syscall.SIGKILL) {
		a.run.ending, a.run.why = batch.EndKilled, "it was asked to stop at a checkpoint, and "+why
	}
	s.timers.set(a, batch.Never)
}

// yields reports whether a program has exited to be started again. It may do so without being
// asked by this server: one that was killed may have asked.
func (r *run) yields(exit Exit) bool {
	return r.how != nil && r.ending == 0 && !exit.Lost && !exit.Detached && exit.Signal == 0 &&
		exit.Code == batch.CheckpointStatus
}

// park ends an attempt that another one is to continue. Its processors stay booked, and the
// policy receives nothing, until that attempt is submitted. That follows at once: the caller
// reacts to the end by submitting or cancelling it.
func (s *System) park(now batch.Time, a *attempt) {
	r := a.run
	r.settle(now, 0)
	progress := r.done + r.work
	out := batch.Outcome{
		End: batch.EndStopped, ExitCode: batch.CheckpointStatus, Reason: "checkpointed after " + progress.String(),
	}
	if !r.checkpointAsked {
		s.freeAllocation(r)
		s.apply(now, batch.Event{Kind: batch.Finish, Job: a.job.Handle})
		s.over(now, a, out)
		return
	}
	s.parked[a.key] = &parked{job: a.job, allocation: r.allocation, next: r.next, progress: progress}
	s.over(now, a, out)
}

// unpark applies Stopped to the policy and queues the next attempt, or starts it at once if
// the job only moves.
func (s *System) unpark(now batch.Time, a *attempt, p *parked) {
	s.alloc.Release(p.allocation)
	a.job = p.job
	a.run.done = p.progress
	s.handles[a.job.Handle] = a
	s.apply(now, batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: true, Progress: p.progress})
	if p.next != nil {
		a.run.allocation, a.run.ran = p.next, p.next
		p.next = nil
		s.start(now, a)
	}
}

// drop ends a parked job that no attempt continues.
func (s *System) drop(now batch.Time, p *parked) {
	s.alloc.Release(p.allocation)
	if p.next != nil { // for the policy it runs
		s.alloc.Release(p.next)
		s.apply(now, batch.Event{Kind: batch.Finish, Job: p.job.Handle})
	} else {
		s.apply(now, batch.Event{Kind: batch.Stopped, Job: p.job.Handle, Checkpoint: true, Progress: p.progress})
		s.apply(now, batch.Event{Kind: batch.Cancel, Job: p.job.Handle})
	}
	s.unused = append(s.unused, p.job.Handle)
}

// exitReason describes a failed exit.
func exitReason(code int, signal syscall.Signal) string {
	if signal != 0 {
		return "signal " + unix.SignalName(signal)
	}
	return "exit status " + strconv.Itoa(code)
}

// checkCheckpoint refuses a checkpoint that cannot be carried out.
func checkCheckpoint(c *batch.Checkpoint) error {
	switch {
	case c == nil:
		return nil
	case c.Signal == "" && len(c.Command) == 0:
		return fmt.Errorf("checkpoint: accepted: a signal, a command or both")
	case c.Signal != "" && unix.SignalNum(c.Signal) == 0:
		return fmt.Errorf("checkpoint.signal: %q, accepted: the name of a signal", c.Signal)
	case c.After < 0:
		return fmt.Errorf("checkpoint.after: %v, accepted: 0s or more", c.After)
	case c.Grace <= 0:
		return fmt.Errorf("checkpoint.grace: %v, accepted: more than 0s", c.Grace)
	}
	return nil
}
