package exec

import (
	"math/bits"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// attempt is one try to run a job, from its submission until it is forgotten.
// The loop owns it. There may be very many that wait: what they do not need is
// in run.
type attempt struct {
	key   batch.Key
	order uint64      // of submission, or of the command that placed it last
	job   *batch.Job  // what the policy was told; nil after the end
	run   *run        // nil before it is started or ends
	shape batch.Shape // of the job, or with which it was placed

	window *window // it runs in; nil for none

	seq        uint64 // of its last change
	prev, next *attempt

	phase   batch.Phase
	pending bool // submitted or reserved in this pass, the policy does not know it yet
	last    bool // it was placed as the last one, and not put back since
	aside   bool // reserved, and held
	dropped bool // it was cancelled before it was confirmed
}

// run is what belongs to an attempt from its start or its end on.
type run struct {
	allocation []batch.NodeAllocation // booked until the end, unless it is paused
	next       []batch.NodeAllocation // where it is moving to, booked too; allocation is then what it leaves
	ran        []batch.NodeAllocation // the last it had, kept for Found
	held       []batch.NodeAllocation // where its memory is counted
	memory     int64                  // of each task there
	started    batch.Time
	ended      batch.Time
	outcome    batch.Outcome

	proc     Launched          // nil until launched
	launched batch.Time        // the program, as far as that is known
	how      *batch.Checkpoint // how it makes place; nil: it is stopped where it is
	left     bool              // to itself, see Release
	stopping bool              // to be paused as soon as it is launched
	ending   batch.End
	why      string        // it is being ended
	due      bool          // it is told to make place when its deadline comes
	asked    bool          // it was told to make place at a checkpoint
	gone     chan struct{} // closed with its end; nil without a checkpoint's command
	resumes  *parked       // the attempt that it follows, until it is started
	again    *parked       // and from then on
	awaited  bool          // the policy is told when it is launched
	unshared bool          // it was said that its shares cannot be set

	done  batch.Duration // by earlier attempts
	work  batch.Duration // done until since by this one, in time at full share
	since batch.Time
	share batch.Share // since then; 0 while it is paused

	deadline batch.Time
	slot     int
}

// settle counts the work done until now and goes on with share.
func (r *run) settle(now batch.Time, share batch.Share) {
	if r.share > 0 {
		hi, lo := bits.Mul64(uint64(now-r.since), uint64(r.share))
		done, _ := bits.Div64(hi, lo, uint64(batch.One))
		r.work += batch.Duration(done)
	}
	r.since, r.share = now, share
}

// limit returns when so much walltime will have been used up, as things stand.
func (r *run) limit(walltime batch.Duration) batch.Time {
	if r.share == 0 {
		return batch.Never
	}
	left := max(walltime-r.work, 0)
	return r.since.Add(left.Times(int64(batch.One), int64(r.share)))
}

// lowest returns the least share among allocation: the tasks of a job go on
// together, so the slowest says how fast.
func lowest(allocation []batch.NodeAllocation) batch.Share {
	share := batch.One
	for i := range allocation {
		share = min(share, allocation[i].Share)
	}
	return share
}

func (a *attempt) live() bool { return a.phase != batch.PhaseEnded }

// waits reports whether it is not to be started yet: reserved, queued or held.
func (a *attempt) waits() bool { return a.phase <= batch.PhaseHeld }

// resumes reports whether it follows an attempt that has made place at a checkpoint,
// and waits.
func (a *attempt) resumes() bool { return a.run != nil && a.run.resumes != nil }

// has returns what it is booked for where it is or goes.
func (r *run) has() []batch.NodeAllocation {
	if r.next != nil {
		return r.next
	}
	return r.allocation
}

// running reports whether it is launched or being launched, and not paused.
func (a *attempt) running() bool {
	return a.phase == batch.PhaseStarting || a.phase == batch.PhaseRunning
}

// found is what others are told about an attempt.
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
