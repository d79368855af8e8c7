package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Side is one way of running jobs. Place submits a job of the grid and notes in its
// run where it went and what was said of it. It is called by several goroutines at
// once.
type Side interface {
	Place(ctx context.Context, r *Run) error
}

// SideFunc is a function that is a Side.
type SideFunc func(context.Context, *Run) error

// Place calls the function.
func (f SideFunc) Place(ctx context.Context, r *Run) error { return f(ctx, r) }

// Play submits jobs at their instants, those of the grid to a side and those of local
// users to their clusters, and returns when all have run. When that fails, or ctx ends
// before, the runs are as far as they have come.
func Play(ctx context.Context, jobs []Job, s *Slurm, side Side, progress func(submitted, ended int)) ([]Run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs := make([]Run, len(jobs))
	for i := range jobs {
		runs[i] = Run{Job: jobs[i], Cluster: jobs[i].Cluster}
	}
	if err := submit(ctx, cancel, runs, s, side, progress); err != nil {
		return runs, err
	}
	for {
		missing, err := s.Read(runs)
		if err != nil || missing == 0 {
			return runs, err
		}
		progress(len(jobs), len(jobs)-missing)
		if !pause(ctx, time.Second) {
			return runs, fmt.Errorf("%d of %d jobs have not run: %w", missing, len(jobs), context.Cause(ctx))
		}
	}
}

// submit does so with all jobs at their instants. The first that fails ends it.
func submit(
	ctx context.Context, cancel context.CancelCauseFunc, runs []Run, s *Slurm, side Side,
	progress func(submitted, ended int),
) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	began := time.Now()
	for i := range runs {
		r := &runs[i]
		if !pause(ctx, time.Until(began.Add(r.Job.At))) {
			return fmt.Errorf("%d of %d jobs were submitted: %w", i, len(runs), context.Cause(ctx))
		}
		wg.Go(func() {
			r.Submitted = time.Now()
			var err error
			if r.Job.Cluster == Anywhere {
				err = side.Place(ctx, r)
			} else {
				err = s.Submit(ctx, &r.Job, r.Job.Cluster)
			}
			if err != nil {
				cancel(err)
			}
		})
		if notes, err := s.notes(); err == nil { // else Read will say
			progress(i+1, len(notes))
		}
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Read fills runs with what jobs have written by now, and returns how many have not
// ended.
func (s *Slurm) Read(runs []Run) (missing int, err error) {
	notes, err := s.notes()
	if err != nil {
		return 0, err
	}
	return Fill(runs, notes), nil
}

// notes are those that jobs have written by now.
func (s *Slurm) notes() ([]Note, error) {
	f, err := os.Open(s.Notes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // no notes yet
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadNotes(f)
}

// pause waits, and says whether ctx has not ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
