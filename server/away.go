package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// follow is follower's. Nodes are away before the batch system hears of it, until it has
// heard that they are there.
func (k *distant) follow(ctx context.Context, system *exec.System) {
	k.pool.Follow(func(n int32, up bool) {
		if !up {
			k.turn(n, false)
		}
		if err := system.SetNode(ctx, n, up); err != nil && !errors.Is(err, exec.ErrClosed) && ctx.Err() == nil {
			k.log.Error("news of a node", "node", n, "up", up, "error", err)
		}
		if up {
			k.turn(n, true)
		}
	})
	k.pool.Asked(ctx) // before anything is started
}

func (k *distant) turn(n int32, up bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if up {
		delete(k.gone, n)
	} else {
		k.gone[n] = true
	}
}

// away names the nodes that are not there.
func (k *distant) away() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var names []string
	for i, n := range k.nodes {
		if k.gone[int32(i)] {
			names = append(names, n.Name)
		}
	}
	return names
}

// awayWhy returns why each of the nodes is not there that are not, by their names.
func (s *Server) awayWhy() map[string]string {
	k, far := s.keeper.(*distant)
	if !far {
		return nil
	}
	why := make(map[string]string)
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := range k.gone {
		why[k.nodes[n].Name] = cmp.Or(k.pool.Why(n), "it does not answer")
	}
	return why
}

// NodesAway names the nodes that do not answer.
func (s *Server) NodesAway() []string {
	if k, far := s.keeper.(*distant); far {
		return k.away()
	}
	return nil
}

// awayProblem says why nobody can tell when something could start that the nodes which
// are there cannot run; nil if all are there.
func (s *Server) awayProblem() error {
	names := s.NodesAway()
	if len(names) == 0 {
		return nil
	}
	return &problem.Problem{
		Reason: problem.NoEstimate, Message: fmt.Sprintf("it cannot start before nodes are there again that do not answer now: %s", strings.Join(names, ", ")),
		Hint: "submitted to this site it waits for them; drover sites shows the others", Retryable: true,
	}
}

// hopeless says whether nothing could ever start, as things stand.
func hopeless(e *batch.Estimate) bool {
	for _, at := range e.Starts {
		if at != batch.Never {
			return false
		}
	}
	return len(e.Starts) > 0
}

// guess says something of what waits for nodes, good for choosing a shape: as if they
// were there.
func guess(e *batch.Estimate, now batch.Time) {
	e.Kind, e.P, e.Ends = batch.Forecast, 0, nil
	for i := range e.Starts {
		e.Starts[i] = now
	}
}
