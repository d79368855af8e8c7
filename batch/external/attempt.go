package external

import (
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// stage is what is known about an attempt's presence in the cluster.
type stage uint8

const (
	local       stage = iota + 1 // in the local queue: the cluster does not have it
	submitting                   // Submit is under way
	unconfirmed                  // Submit had no clear answer: the cluster may have it
	submitted                    // the cluster has it, under attempt.id
	over                         // it has ended
)

// desired is the state that an attempt should have.
type desired uint8

const (
	wantRun desired = iota + 1
	wantReserved
	wantHeld
	wantCancelled
)

// attempt is one launch of a job, from its submission until it is forgotten. System.mu
// guards it.
type attempt struct {
	key      batch.Key
	position uint64 // in the order of submissions and later placements
	arrival  uint64 // position of its submission
	job      *batch.Job
	shape    batch.Shape // desired
	sent     batch.Shape // in the cluster, if the attempt is submitted or unconfirmed

	desired      desired
	stage        stage
	phase        batch.Phase
	placedLast   bool // it was placed last, and not restored since
	heldReserved bool // it is reserved and takes no capacity

	id          string    // job ID in the cluster
	since       time.Time // start of its stage: polls that began earlier do not count
	missed      int       // polls in a row that did not show it
	unaccounted time.Time // since when accounting should say how it ended
	resubmit    bool      // it leaves the cluster to be submitted again with another shape
	requeued    bool      // the cluster has it waiting although it has begun
	// twice: the cluster has started it again after it had begun, or was about to. The
	// cluster's records are about that start.
	twice bool

	stopAsked time.Time // when it was asked to stop because the cluster lost sight of it
	presumed  bool      // it counts as lost although it did not confirm the stop

	lastAction Action // most recent request to the cluster about it; 0: none
	actionAt   time.Time

	started, ended time.Time
	nodes          []string
	outcome        batch.Outcome

	seq uint64 // number of its last change
}

func (a *attempt) live() bool { return a.stage != over }

// waits reports whether it is reserved, queued or held: not known to be started.
func (a *attempt) waits() bool { return a.phase <= batch.PhaseHeld }

// begun reports whether it has begun and not ended, as far as is known.
func (a *attempt) begun() bool { return a.phase == batch.PhaseRunning || a.phase == batch.PhasePaused }

// held reports whether it takes no capacity, reserved or not.
func (a *attempt) held() bool { return a.desired == wantHeld || a.heldReserved }

// submittable reports whether it can go to the cluster.
func (a *attempt) submittable() bool { return a.stage == local && a.desired == wantRun }

// leaving reports whether it is on its way out of the cluster's queue.
func (a *attempt) leaving() bool { return a.desired == wantCancelled || a.resubmit || a.requeued }

// due returns the action that the cluster has to be asked for now; 0: none.
func (a *attempt) due(now time.Time) Action {
	var action Action
	switch {
	case a.stage != submitted:
	case a.leaving():
		action = Cancel
	case a.desired == wantHeld && a.phase == batch.PhaseQueued:
		action = Hold
	case a.desired == wantRun && a.phase == batch.PhaseHeld:
		action = Release
	}
	if action == a.lastAction && now.Sub(a.actionAt) < retryAfter {
		return 0
	}
	return action
}

// found returns the attempt as callers see it.
func (a *attempt) found() batch.Found {
	return batch.Found{
		Key: a.key, Phase: a.phase, Shape: a.shape, Started: a.started, Ended: a.ended, Nodes: a.nodes,
		Outcome: a.outcome,
	}
}
