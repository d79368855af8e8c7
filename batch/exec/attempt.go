package exec

import (
	"math/bits"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// attempt is one try to run a job, from its submission until it is forgotten.
// The loop owns it.
type attempt struct {
	key     batch.Key
	order   uint64        // of submission, or of the command that placed it last
	job     *batch.Job    // what the policy was told; nil after the end
	run     batch.Program // empty after the end
	shape   batch.Shape   // of the job, or with which it was placed
	phase   batch.Phase
	pending bool // submitted or reserved in this pass, the policy does not know it yet
	last    bool // it was placed as the last one, and not put back since
	dropped bool // it was cancelled before it was confirmed

	places  []batch.Location // booked while it runs
	nodes   []string         // names of the places, kept for Found
	started batch.Time
	ended   batch.Time
	outcome batch.Outcome

	proc     Process // nil until launched
	stopping bool    // to be paused as soon as it is launched
	ending   batch.End
	why      string // it is being ended

	work  batch.Duration // done until since, in time at full share
	since batch.Time
	share batch.Share // since then; 0 while it is paused

	deadline batch.Time
	slot     int

	seq        uint64 // of its last change
	prev, next *attempt
}

// settle counts the work done until now and goes on with share.
func (a *attempt) settle(now batch.Time, share batch.Share) {
	if a.share > 0 {
		hi, lo := bits.Mul64(uint64(now-a.since), uint64(a.share))
		done, _ := bits.Div64(hi, lo, uint64(batch.One))
		a.work += batch.Duration(done)
	}
	a.since, a.share = now, share
}

// limit returns when the walltime will have been used up, as things stand.
func (a *attempt) limit() batch.Time {
	if a.share == 0 {
		return batch.Never
	}
	left := max(a.shape.Walltime-a.work, 0)
	return a.since.Add(left.Times(int64(batch.One), int64(a.share)))
}

// lowest returns the least share among places: the tasks of a job go on
// together, so the slowest says how fast.
func lowest(places []batch.Location) batch.Share {
	share := batch.One
	for i := range places {
		share = min(share, places[i].Share)
	}
	return share
}

func (a *attempt) live() bool { return a.phase != batch.PhaseEnded }

// waits reports whether it has not started: reserved, queued or held.
func (a *attempt) waits() bool { return a.phase <= batch.PhaseHeld }

func (a *attempt) found() batch.Found {
	return batch.Found{
		Key: a.key, Phase: a.phase, Shape: a.shape,
		Started: wall(a.started), Ended: wall(a.ended),
		Nodes: a.nodes, Outcome: a.outcome,
	}
}

// wall converts an instant of a live system; 0 is the zero time.
func wall(t batch.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t))
}
