package fractional

import (
	"context"
	"io"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// The states that the paper times MCB8 on: those of as many jobs, met by the algorithm
// that packs most often.
const (
	statesAlgorithm = "MCB8*/opt=min"
	leastJobs       = 11
	mostJobs        = 102
	statesEvery     = 300 // one in so many is kept
)

// WriteStates runs the unscaled workloads and writes some of the states that MCB8 is
// asked to pack. It returns how many it met and wrote.
func WriteStates(ctx context.Context, w io.Writer) (met, written int, err error) {
	for seed := 1; seed <= Seeds; seed++ {
		in, failed := Synthetic(ctx, seed)
		if failed != nil {
			return met, written, failed
		}
		watch := func(p batch.Policy) batch.Policy {
			p.(*dfrs.Policy).WatchPackings(func(m *pack.Machine, jobs []pack.Job) {
				if n := len(jobs); err != nil || n < leastJobs || n > mostJobs {
					return
				}
				if met++; met%statesEvery == 0 {
					written++
					err = pack.WriteState(w, m, jobs)
				}
			})
			return p
		}
		if _, failed := Run(ctx, in, statesAlgorithm, 0, Penalty, Options{Wrap: watch}); failed != nil {
			return met, written, failed
		}
		if err != nil {
			return met, written, err
		}
	}
	return met, written, nil
}
