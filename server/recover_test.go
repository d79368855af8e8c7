package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// followingRunner is a runner with attempts that the batch system already follows.
type followingRunner struct{ runner }

func (followingRunner) Attach(_ context.Context, key batch.Key, _ *site.Job) (attempt.Status, exec.Launched, error) {
	return attempt.Status{}, nil, fmt.Errorf("attempt of %s: %w", key.Job, supervisor.ErrFollowed)
}

func (followingRunner) Launch(context.Context, exec.Spec, *site.Job) (exec.Launched, error) {
	panic("unexpected launch")
}

// A full disk makes the server rebuild its core while an earlier launch is in progress.
func TestRecoveryLeavesLaunchingAttemptsToTheBatchSystem(t *testing.T) {
	data, err := openData(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &Server{data: data, runner: followingRunner{wholeRunner{data: data}}}
	for _, state := range []site.State{site.Starting, site.Cancelling} {
		j := &site.Job{ID: "job-" + batch.JobID(state.String()), State: state, Started: batch.Never}
		fate, process, err := s.recoverAttempt(t.Context(), j)
		if err != nil || process != nil || fate.Won || fate.Found.Phase != batch.PhaseStarting || fate.Found.Key != j.Key() {
			t.Errorf("%v: %+v, %v, %v", state, fate, process, err)
		}
	}
}
