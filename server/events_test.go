package server

import (
	"context"
	"errors"
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
		_, err := k.Launch(t.Context(), exec.Spec{Key: key, Allocation: []batch.NodeAllocation{{Processors: 1,
			Share: batch.One}}}, &site.Job{ID: "a"})
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
