package exec

import (
	"cmp"
	"container/heap"
	"errors"
	"math/bits"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// attempt is one attempt to run a job, from its submission until the system forgets it. The
// loop owns it. Very many attempts can wait, so fields that only a started one needs are in
// run.
type attempt struct {
	key   batch.Key
	order uint64      // of submission, or of the command that last placed it
	job   *batch.Job  // as the policy knows it; nil after the end
	run   *run        // nil before it starts or ends
	shape batch.Shape // of the job, or the one it was placed with

	window *window // that it runs in; nil for none

	seq        uint64 // of its last change
	prev, next *attempt

	phase        batch.Phase
	pending      bool // submitted or reserved in this pass; the policy does not know it yet
	last         bool // it was placed last in the queue, and not put back since
	heldReserved bool // reserved and held
	dropped      bool // cancelled before it was confirmed
}

// run holds the fields of an attempt from its start, or its end, on.
type run struct {
	allocation []batch.NodeAllocation // booked until the end, unless it is paused
	next       []batch.NodeAllocation // target of a move, booked too; allocation is then the source
	ran        []batch.NodeAllocation // its last allocation, kept for Found
	held       []batch.NodeAllocation // the allocation that its memory is counted on
	memory     int64                  // of each task there
	started    batch.Time
	ended      batch.Time
	outcome    batch.Outcome

	proc            Launched          // nil until launched
	launched        batch.Time        // when the program started, as far as that is known
	how             *batch.Checkpoint // how the program is stopped; nil: it is suspended in place
	left            bool              // released to run without this system, see Release
	stopping        bool              // to be paused once it is launched
	ending          batch.End
	why             string        // why it is being ended
	due             bool          // to be asked for a checkpoint at its deadline
	checkpointAsked bool          // it was asked for a checkpoint
	gone            chan struct{} // closed at its end; nil without a checkpoint command
	resumes         *parked       // the attempt that it continues, until it starts
	again           *parked       // the same, after its start
	awaited         bool          // the policy expects Resumed after the launch
	unshared        bool          // a warning that shares cannot be set was logged

	done  batch.Duration // by earlier attempts
	work  batch.Duration // done before since by this one, as time at full share
	since batch.Time
	share batch.Share // since then; 0 while it is paused

	deadline batch.Time
	slot     int
}

// settle adds the work done until now and continues with share.
func (r *run) settle(now batch.Time, share batch.Share) {
	if r.share > 0 {
		hi, lo := bits.Mul64(uint64(now-r.since), uint64(r.share))
		done, _ := bits.Div64(hi, lo, uint64(batch.One))
		r.work += batch.Duration(done)
	}
	r.since, r.share = now, share
}

// limit returns when the walltime will be used up at the current share.
func (r *run) limit(walltime batch.Duration) batch.Time {
	if r.share == 0 {
		return batch.Never
	}
	left := max(walltime-r.work, 0)
	return r.since.Add(left.Times(int64(batch.One), int64(r.share)))
}

// lowest returns the least share of an allocation. The tasks of a job progress together, so
// the slowest determines the speed.
func lowest(allocation []batch.NodeAllocation) batch.Share {
	share := batch.One
	for i := range allocation {
		share = min(share, allocation[i].Share)
	}
	return share
}

func (a *attempt) live() bool { return a.phase != batch.PhaseEnded }

// waits reports whether the attempt is reserved, queued or held.
func (a *attempt) waits() bool { return a.phase <= batch.PhaseHeld }

// resumes reports whether the attempt waits to continue an earlier one from its checkpoint.
func (a *attempt) resumes() bool { return a.run != nil && a.run.resumes != nil }

// has returns the allocation it has, or moves to.
func (r *run) has() []batch.NodeAllocation {
	if r.next != nil {
		return r.next
	}
	return r.allocation
}

// running reports whether it is starting or running, and not paused.
func (a *attempt) running() bool {
	return a.phase == batch.PhaseStarting || a.phase == batch.PhaseRunning
}

// found returns the public state of an attempt.
func (s *System) found(a *attempt) batch.Found {
	f := batch.Found{Key: a.key, Phase: a.phase, Shape: a.shape}
	if r := a.run; r != nil {
		f.Started, f.Ended, f.Outcome = wall(r.started), wall(r.ended), r.outcome
		f.Allocation, f.Nodes = r.ran, s.nodesOf(r.ran)
	}
	return f
}

// wall converts an instant of a live system; 0 is the zero time.
func wall(t batch.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t))
}

// end begins to end a started attempt as kind, for a reason. The first call counts.
func (s *System) end(now batch.Time, a *attempt, kind batch.End, why string) {
	if a.run.ending != 0 {
		return
	}
	a.run.ending, a.run.why = kind, why
	s.timers.set(a, batch.Never)
	if a.run.proc != nil {
		s.signalEnd(now, a)
	}
}

// signalEnd asks the group to end. An attempt that has ended by itself keeps its own outcome.
func (s *System) signalEnd(now batch.Time, a *attempt) {
	if !s.signal(a, syscall.SIGTERM) {
		a.run.ending, a.run.why = 0, ""
		return
	}
	if a.phase == batch.PhasePaused {
		s.signal(a, syscall.SIGCONT)
	}
	s.timers.set(a, now.Add(s.grace))
}

// signal sends sig, and returns false when the attempt has already ended by
// itself.
func (s *System) signal(a *attempt, sig syscall.Signal) bool {
	err := a.run.proc.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return false
	}
	if err != nil {
		s.log.Warn("signal failed", "job", a.key.Job, "signal", unix.SignalName(sig), "error", err)
	}
	return true
}

// finish handles an attempt without processes: they are gone, or never existed.
func (s *System) finish(now batch.Time, n *note) {
	a := n.attempt
	if a.run.left {
		return
	}
	s.active--
	if s.released && (n.err != nil || n.exit.Detached) {
		// Its supervisor reports what became of it after the restart. A launch that fails now
		// may fail because the server stops.
		return
	}
	if a.run.gone != nil {
		close(a.run.gone)
	}
	switch {
	case n.err == nil && a.run.yields(n.exit):
		s.park(now, a)
		return
	case errors.Is(n.err, ErrNodeGone) && a.run.ending == 0 && !s.retired:
		s.requeue(now, a)
		return
	}
	var out batch.Outcome
	if n.err != nil {
		out = neverLaunched(n.err)
	} else {
		out = outcome(a.run, n.exit)
	}
	ev := batch.Event{Kind: batch.Finish, Job: a.job.Handle, Broken: a.run.checkpointAsked &&
		out.End == batch.EndKilled}
	if a.run.allocation == nil && !a.job.Resident {
		ev = batch.Event{Kind: batch.Cancel, Job: a.job.Handle} // it was paused: for the policy it waits
	}
	s.freeAllocation(a.run)
	// A command that is missing now is missing at a retry too: the policy receives the end of
	// the job, not StartFailed, which would make it try again.
	s.apply(now, ev)
	if n.err != nil {
		s.log.Warn("launch failed", "job", a.key.Job, "error", n.err)
	}
	s.over(now, a, out)
}

// freeAllocation frees everything that an attempt has booked.
func (s *System) freeAllocation(r *run) {
	s.alloc.Release(r.allocation)
	s.alloc.Release(r.next)
	r.allocation, r.next = nil, nil
}

// requeue queues an attempt again after its launch failed because a node has left. A job with a
// checkpoint can still continue from it.
func (s *System) requeue(now batch.Time, a *attempt) {
	s.log.Info("node has left before the launch", "job", a.key.Job)
	s.timers.set(a, batch.Never)
	if r := a.run; r.next != nil { // it was about to move away
		s.alloc.Release(r.allocation)
		r.allocation, r.ran, r.next, r.awaited = r.next, r.next, nil, true
		s.apply(now, batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: r.again != nil, Progress: r.done})
		s.start(now, a)
		return
	}
	s.freeAllocation(a.run)
	ev := batch.Event{Kind: batch.StartFailed, Job: a.job.Handle}
	was := a.run
	if was.again != nil || was.stopping { // it was about to be paused
		ev = batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: was.again != nil, Progress: was.done}
	}
	s.dropMemory(was)
	a.phase, a.run = batch.PhaseQueued, nil
	if was.again != nil {
		a.run = &run{resumes: was.again, done: was.done}
	}
	s.changes.touch(a)
	s.apply(now, ev)
}

// over puts a into its last phase and drops what is no longer needed.
func (s *System) over(now batch.Time, a *attempt, out batch.Outcome) {
	if a.run == nil {
		a.run = &run{}
	}
	s.timers.set(a, batch.Never)
	s.dropMemory(a.run)
	s.quit(now, a)
	a.phase, a.run.ended, a.run.outcome = batch.PhaseEnded, now, out
	if h := a.job.Handle; h != batch.NoJob {
		s.handles[h] = nil
		if s.parked[a.key] == nil {
			s.unused = append(s.unused, h)
		}
	}
	a.job, a.run.allocation, a.run.next, a.run.proc = nil, nil, nil, nil
	s.changes.touch(a)
	if old := s.changes.retire(a, s.retain); old != nil {
		delete(s.attempts, old.key)
	}
}

// neverLaunched is the outcome of an attempt without a process.
func neverLaunched(err error) batch.Outcome {
	out := batch.Outcome{End: batch.EndStartFailed, Reason: err.Error()}
	if errors.Is(err, ErrNeverRan) || errors.Is(err, ErrNodeGone) {
		out.End, out.HostFault = batch.EndNeverRan, errors.Is(err, ErrHostFault)
	}
	if e, ok := errors.AsType[*ExecuteError](err); ok {
		out.NotExecutable = process.NotExecutable(e.Errno)
	}
	return out
}

// outcome is the outcome of an attempt after its process is gone. An attempt that was being ended
// ends as requested, even if its exit was not observed. If it is known to have ended by
// itself before, its own exit counts.
func outcome(r *run, exit Exit) batch.Outcome {
	out := batch.Outcome{End: batch.EndDone, ExitCode: exit.Code}
	switch {
	case exit.Lost || exit.Detached:
		out = batch.Outcome{End: batch.EndLost, Reason: cmp.Or(exit.Reason, "its exit was not observed")}
	case exit.Signal != 0:
		out = batch.Outcome{End: batch.EndFailed, Signal: unix.SignalName(exit.Signal)}
		out.Reason = withMore("signal "+out.Signal, exit.Reason)
	case exit.Code != 0:
		out.End, out.Reason = batch.EndFailed, withMore(exitReason(exit.Code, 0), exit.Reason)
	}
	if r.checkpointAsked && out.End == batch.EndFailed {
		out.End, out.Reason = batch.EndKilled,
			"it was asked to stop at a checkpoint, and left no checkpoint: "+out.Reason
	}
	if r.ending != 0 && (!exit.Unsignaled || out.End == batch.EndLost) {
		out.End, out.Reason = r.ending, r.why
	}
	return out
}

// withMore adds further detail about a failure.
func withMore(failure, more string) string {
	if more == "" {
		return failure
	}
	return failure + ", " + more
}

// deadlines orders started attempts by the next instant at which the loop has to act on them:
// the end of the walltime or of the grace time. Each attempt has at most one deadline.
type deadlines struct{ heap deadlineHeap }

// next returns the earliest deadline, or batch.Never.
func (d *deadlines) next() batch.Time {
	if len(d.heap) == 0 {
		return batch.Never
	}
	return d.heap[0].run.deadline
}

// pop removes and returns an attempt with a deadline not after now; nil if there is none.
func (d *deadlines) pop(now batch.Time) *attempt {
	if d.next() > now {
		return nil
	}
	return heap.Pop(&d.heap).(*attempt)
}

// set replaces the deadline of a; batch.Never removes it.
func (d *deadlines) set(a *attempt, at batch.Time) {
	r := a.run
	r.deadline = at
	switch {
	case at == batch.Never && r.slot > 0:
		heap.Remove(&d.heap, r.slot-1)
	case at == batch.Never:
	case r.slot > 0:
		heap.Fix(&d.heap, r.slot-1)
	default:
		heap.Push(&d.heap, a)
	}
}

// deadlineHeap orders by instant, then by submission. The slot of an attempt is its index
// plus one, so the zero value is outside.
type deadlineHeap []*attempt

func (h deadlineHeap) Len() int { return len(h) }

func (h deadlineHeap) Less(i, j int) bool {
	if x, y := h[i].run.deadline, h[j].run.deadline; x != y {
		return x < y
	}
	return h[i].order < h[j].order
}

func (h deadlineHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].run.slot, h[j].run.slot = i+1, j+1
}

// Push implements heap.Interface.
func (h *deadlineHeap) Push(x any) {
	a := x.(*attempt)
	*h = append(*h, a)
	a.run.slot = len(*h)
}

// Pop implements heap.Interface.
func (h *deadlineHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.run.slot = 0
	return a
}
