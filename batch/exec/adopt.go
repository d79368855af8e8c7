package exec

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Adopted is an attempt that is already running when the system is created, because a
// restarted server has found it. It is Running from the start, and the walltime of Job.Shape
// counts from Started, including the time without a server. An attempt past its walltime is
// ended at once. The caller must resume a paused attempt first.
type Adopted struct {
	Key        batch.Key
	Job        *batch.Job // with the shape it was started with; owned by the system after New
	Started    time.Time  // from Found
	Allocation []batch.NodeAllocation
	Process    Launched
	// Checkpoint is how the program is stopped; nil: it is suspended in place.
	Checkpoint *batch.Checkpoint
	Into       batch.Key // the reservation it runs in; zero for none. One that has ended is ignored
}

// adopt takes over running attempts. The error names the first job that cannot be taken.
func (s *System) adopt(now batch.Time, all []Adopted, fractional bool) error {
	if fractional {
		s.squeeze(all)
	}
	for i := range all {
		if err := s.adoptOne(now, &all[i]); err != nil {
			return fmt.Errorf("job %s: %w", all[i].Key.Job, err)
		}
	}
	return nil
}

// squeeze reduces the shares of jobs on nodes that are overbooked.
func (s *System) squeeze(all []Adopted) {
	want := make([]int64, len(s.names))
	for i := range all {
		for _, l := range all[i].Allocation {
			if l.Node >= 0 && int(l.Node) < len(want) {
				want[l.Node] += max(0, int64(l.Processors)*int64(l.Share))
			}
		}
	}
	for i := range all {
		all[i].Allocation = slices.Clone(all[i].Allocation)
		for k := range all[i].Allocation {
			l := &all[i].Allocation[k]
			if l.Node < 0 || int(l.Node) >= len(want) {
				continue // adopt refuses it
			}
			has := int64(s.platform.Nodes[l.Node].Processors) * int64(batch.One)
			if w := want[l.Node]; w > has {
				hi, lo := bits.Mul64(uint64(l.Share), uint64(has))
				part, _ := bits.Div64(hi, lo, uint64(w))
				l.Share = max(1, batch.Share(part))
			}
		}
	}
}

func (s *System) adoptOne(now batch.Time, it *Adopted) error {
	switch {
	case s.attempts[it.Key] != nil:
		return errors.New("adopted twice")
	case it.Process == nil:
		return errors.New("process: missing")
	case len(it.Allocation) == 0:
		return errors.New("allocation: none")
	}
	if err := s.check(&batch.Command{Kind: batch.CmdSubmit, Key: it.Key, Job: it.Job}); err != nil {
		return err
	}
	for i, part := range it.Allocation {
		if part.Node < 0 || int(part.Node) >= len(s.names) {
			return fmt.Errorf("allocation[%d]: node %d, the platform has %d nodes", i, part.Node, len(s.names))
		}
		if !s.alloc.Take(it.Allocation[i : i+1]) {
			return fmt.Errorf("allocation[%d]: node %s does not have %d free processors", i, s.names[part.Node],
				part.Processors)
		}
	}
	// The clock may have been set back since the start.
	since := min(batch.Time(it.Started.UnixMicro()), now)
	s.orders++
	a := &attempt{
		key: it.Key, order: s.orders, job: it.Job, shape: it.Job.Shape, phase: batch.PhaseRunning,
		run: &run{
			allocation: it.Allocation, ran: it.Allocation, started: since, launched: since, proc: it.Process,
			how: it.Checkpoint, done: it.Job.Done,
			since: since, share: lowest(it.Allocation), deadline: batch.Never,
		},
	}
	s.attempts[a.key] = a
	s.holdMemory(a)
	a.job.Handle = s.handle(a)
	if w := s.windows[it.Into]; w != nil {
		s.enter(a, w)
	}
	s.timers.set(a, a.run.limit(a.shape.Walltime))
	s.changes.touch(a)
	s.applyShares(a)
	s.apply(now, batch.Event{
		Kind: batch.Adopt, Job: a.job.Handle, Spec: a.job, Since: since, Allocation: a.run.allocation,
	})
	return nil
}

// Release ends the loop and leaves running programs to their supervisor: nothing more is
// started or signaled, and only ends that the loop has already seen are reported. Attempts
// can still be found and watched, in their last state.
//
// Programs that are Detachers are detached; the goroutine of any other stays in Wait until
// that returns. Release waits for launches under way, because Launch cannot be cancelled, and
// leaves what they start running too. A launch that fails is not reported, because it may
// have failed as the server stops. If ctx ends first, such launches are abandoned and Release
// returns an error with their number. After Close it releases nothing.
func (s *System) Release(ctx context.Context) error {
	if err := s.ask(ctx, s.letGo); err != nil {
		return fmt.Errorf("release batch system: %w", err)
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	left := 0
	if err := s.ask(context.WithoutCancel(ctx), func(batch.Time) { left, s.active = s.active, 0 }); err != nil {
		return fmt.Errorf("release batch system: %w", err)
	}
	<-s.done
	if left == 0 {
		return nil
	}
	return fmt.Errorf("release batch system: %d launches under way: %w", left, ctx.Err())
}

// letGo is the request to leave all programs running.
func (s *System) letGo(batch.Time) {
	if s.released {
		return
	}
	s.closing, s.retired, s.released = true, true, true
	for _, a := range s.handles {
		if a == nil || a.run == nil {
			continue
		}
		s.timers.set(a, batch.Never) // no signal is due any more
		if a.run.proc != nil {
			s.leaveAlone(a)
		}
	}
}

// leaveAlone stops following a launched attempt. It does not wait for one that cannot be
// detached.
func (s *System) leaveAlone(a *attempt) {
	if a.run.gone != nil {
		close(a.run.gone)
		a.run.gone = nil
	}
	if !detach(a.run.proc) {
		a.run.left = true
		s.active--
	}
}

// detach detaches proc and reports whether it can be left running.
func detach(proc Launched) bool {
	d, ok := proc.(Detacher)
	if ok {
		d.Detach()
	}
	return ok
}
