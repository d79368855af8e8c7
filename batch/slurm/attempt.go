package slurm

import (
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// stage is what is known of an attempt's being in Slurm.
type stage uint8

const (
	outside stage = iota + 1 // Slurm has never heard of it, or not any more
	sending                  // it is being handed over
	unsure                   // it was, perhaps: nobody has answered
	inside                   // Slurm has it under id
	over                     // it has ended
)

// wish is what is to become of an attempt that waits.
type wish uint8

const (
	toRun wish = iota + 1
	toReserve
	toHold
	toCancel
)

// attempt is one try to run a job, from its submission until it is forgotten. All
// is guarded by the System's mu.
type attempt struct {
	key   batch.Key
	order uint64 // of submission, or of the command that placed it last
	first uint64 // of submission
	job   *batch.Job
	shape batch.Shape // it is to have
	sent  batch.Shape // Slurm has it with, if it is inside or may be

	want  wish
	stage stage
	phase batch.Phase
	last  bool // it was placed as the last one, and not put back since
	aside bool // reserved, and held

	id      string    // Slurm's
	since   time.Time // it came to its stage: looks that began before say nothing of it
	missing int       // looks that did not find it
	adrift  time.Time // since when accounting has to say how it ended, and has not
	again   bool      // it is taken out of Slurm to be put in with another shape
	found   bool      // that it is in Slurm was not told by sbatch: somebody may have it twice
	twice   bool      // it has begun, and Slurm has started it again or would: what Slurm says is about that start
	back    bool      // it waits in Slurm though it has begun
	parted  time.Time // since when Slurm has given it up, and it is to stop
	astray  bool      // it has not said that it has

	asked verb      // the last thing that Slurm was asked to do with it
	when  time.Time // and when

	started, ended time.Time
	nodes          []string
	outcome        batch.Outcome

	seq uint64 // of its last change
}

// verb is something Slurm is asked to do with a job.
type verb uint8

const (
	nothing verb = iota
	doHold
	doRelease
	doCancel
)

func (a *attempt) live() bool { return a.stage != over }

// waits reports whether it is not known to be started: reserved, queued or held.
func (a *attempt) waits() bool { return a.phase <= batch.PhaseHeld }

// begun reports whether it is known to have begun, and not to have ended.
func (a *attempt) begun() bool { return a.phase == batch.PhaseRunning || a.phase == batch.PhasePaused }

// held reports whether it is to take no capacity, reserved or not.
func (a *attempt) held() bool { return a.want == toHold || a.aside }

// ready reports whether it is to be handed to Slurm.
func (a *attempt) ready() bool { return a.stage == outside && a.want == toRun }

// patience is how long Slurm may take to do what it was asked, before it is asked
// again.
const patience = 15 * time.Second

// due returns what Slurm has to be asked for now.
func (a *attempt) due(now time.Time) verb {
	v := nothing
	switch {
	case a.stage != inside:
	case a.want == toCancel || a.again || a.back:
		v = doCancel
	case a.want == toHold && a.phase == batch.PhaseQueued:
		v = doHold
	case a.want == toRun && a.phase == batch.PhaseHeld:
		v = doRelease
	}
	if v == a.asked && now.Sub(a.when) < patience {
		return nothing
	}
	return v
}

// told returns what others are told about an attempt.
func (a *attempt) told() batch.Found {
	return batch.Found{
		Key: a.key, Phase: a.phase, Shape: a.shape, Started: a.started, Ended: a.ended, Nodes: a.nodes, Outcome: a.outcome,
	}
}
