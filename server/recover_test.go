package server

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
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
		recovered, process, err := s.recoverAttempt(t.Context(), j)
		if err != nil || process != nil || recovered.Won || recovered.Found.Phase != batch.PhaseStarting ||
			recovered.Found.Key != j.Key() {
			t.Errorf("%v: %+v, %v, %v", state, recovered, process, err)
		}
	}
}

// slowNode accepts a launch and answers, with a refusal, only when the test says so.
type slowNode struct {
	asked, refuse chan struct{}
	pool.Node
}

func (n slowNode) Renew(context.Context, time.Duration) error { return nil }

func (n slowNode) Launch(context.Context, pool.TaskSpec) (exec.Launched, error) {
	close(n.asked)
	<-n.refuse
	return nil, exec.ErrNeverRan
}

func (n slowNode) Bar(context.Context, pool.ID) (bool, error) { return true, nil }

// A query would claim the attempt and spawn a second process.
func TestEventsLeaveLaunchingAttemptsAlone(t *testing.T) {
	n := slowNode{asked: make(chan struct{}), refuse: make(chan struct{})}
	nodes, err := pool.New(pool.Config{Names: []string{"a"}, Nodes: []pool.Node{n}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Close()
	nodes.Asked(t.Context())
	k := &sharedRunner{pool: nodes, log: hclog.NewNullLogger()}
	key := batch.Key{Job: "a", Attempt: 1}
	launched := make(chan error)
	go func() {
		_, err := k.Launch(t.Context(), exec.Spec{Key: key, Allocation: []batch.NodeAllocation{{
			Processors: 1,
			Share:      batch.One,
		}}}, &site.Job{ID: "a"})
		launched <- err
	}()
	<-n.asked
	if st, _, err := k.Attach(t.Context(), key, nil); !errors.Is(err, supervisor.ErrFollowed) {
		t.Errorf("%+v, %v", st, err)
	}
	close(n.refuse)
	if err := <-launched; !errors.Is(err, exec.ErrNeverRan) {
		t.Error(err)
	}
	if st, _, err := k.Attach(t.Context(), key, nil); err != nil || st.Condition != attempt.Barred {
		t.Errorf("%+v, %v", st, err)
	}
}
