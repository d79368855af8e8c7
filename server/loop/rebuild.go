package loop

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Rebuild reconciles a core that was restored after a failed commit with the batch system, which
// has kept running. It is like a restart, but for the attempts that the batch system still has: it
// will report their launches and ends itself.
type Rebuild struct {
	Core   Core
	System System
	// Recover tries to claim the attempt of a job as after a restart, and returns what became of it.
	Recover func(*site.Job) (site.RecoveredAttempt, error)
	// Order sends commands to the batch system.
	Order func([]batch.Command)
	// Voided are the attempts that this process has undone. Late reports may still name them.
	Voided []batch.Key
}

// Core is the part of a *site.Site that a rebuild needs.
type Core interface {
	Job(id batch.JobID) (site.Job, error)
	Unsettled() []batch.Key
	Void(attempt batch.Key)
	Recover(now batch.Time, attempts []site.RecoveredAttempt) error
}

// System is the part of a batch system that a rebuild needs.
type System interface {
	Snapshot(ctx context.Context) (batch.Snapshot, error)
	Find(ctx context.Context, keys []batch.Key) ([]batch.Found, error)
}

// Run recovers the core. It cancels the attempts that the core does not know, and voids their keys:
// a new job must not get one of them.
func (r *Rebuild) Run(ctx context.Context, now batch.Time) error {
	keys := r.Core.Unsettled()
	attempts := make([]site.RecoveredAttempt, len(keys))
	for i, key := range keys {
		var err error
		if attempts[i], err = r.recoverAttempt(ctx, key); err != nil {
			return err
		}
	}
	if err := r.cancelUnknown(ctx); err != nil {
		return err
	}
	return r.Core.Recover(now, attempts)
}

// recoverAttempt recovers an attempt, unless the batch system may be about to report it.
func (r *Rebuild) recoverAttempt(ctx context.Context, key batch.Key) (site.RecoveredAttempt, error) {
	starting := batch.Found{Key: key, Phase: batch.PhaseStarting}
	j, err := r.Core.Job(key.Job)
	if err != nil {
		return site.RecoveredAttempt{}, err
	}
	if j.State == site.Starting || j.State == site.Running || j.Started != batch.Never {
		found, err := r.System.Find(ctx, []batch.Key{key})
		if err != nil {
			return site.RecoveredAttempt{}, err
		}
		if len(found) > 0 && found[0].Phase >= batch.PhaseStarting {
			return site.RecoveredAttempt{Found: starting}, nil
		}
	}
	a, err := r.Recover(&j)
	if a.Found.Phase == batch.PhaseRunning {
		a.Found = starting
	}
	return a, err
}

func (r *Rebuild) cancelUnknown(ctx context.Context) error {
	snap, err := r.System.Snapshot(ctx)
	if err != nil {
		return err
	}
	var cmds []batch.Command
	for _, list := range [][]batch.Found{snap.Waiting, snap.Running} {
		for _, f := range list {
			if j, err := r.Core.Job(f.Key.Job); err == nil && j.Key() == f.Key {
				continue
			}
			r.Voided = append(r.Voided, f.Key)
			if f.Phase < batch.PhaseStarting { // otherwise the core refuses the launch
				cmds = append(cmds, batch.Command{Kind: batch.CmdCancel, Key: f.Key})
			}
		}
	}
	for _, key := range r.Voided {
		r.Core.Void(key)
	}
	r.Order(cmds)
	return nil
}
