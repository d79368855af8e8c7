package client

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// MoveState is how far a move has come.
type MoveState string

// The states of a move.
const (
	MovePending MoveState = "pending"
	MoveMoved   MoveState = "moved"   // the job is at the other site
	MoveAborted MoveState = "aborted" // the job has stayed
)

// Move is one attempt to bring a job to another site. Times are on the clock of
// the site that tells it; the zero Time says that it has not happened.
type Move struct {
	Job, Service string
	From, To     string // sites
	Epoch        uint32 // that this attempt took
	State        MoveState
	Ordered      time.Time
	Settled      time.Time
	Reason       string // "by hand", "drain", "reallocation"
	Agent        string // that ordered it
	AbortedWhy   string
	// PredictedGain is how much sooner the job was to be finished, and
	// RealisedGain how much sooner it was; nil where that is not known.
	PredictedGain *time.Duration
	RealisedGain  *time.Duration
	MinGain       *time.Duration // nil: at any price
}

// MoveOrder says how to move a job.
type MoveOrder struct {
	To      string         // site; empty for the one that would finish it first
	MinGain *time.Duration // how much sooner it must be finished there; nil for at any price
	Reason  string         // for the record; empty for "by hand"
}

// Move has a waiting job moved. The answer says that the move has begun, and to
// which site; Moves says later what came of it.
func (c *Client) Move(ctx context.Context, id string, o MoveOrder) (job *Job, to string, err error) {
	if err := checkID(id); err != nil {
		return nil, "", err
	}
	unheard := false
	job, err = insist(ctx, c, func(ctx context.Context, agent string) (*Job, error) {
		j, target, err := c.face.move(ctx, agent, id, o)
		unheard = unheard || err != nil && failureOf(err).Kind == submission.Silent
		to = target
		return j, err
	})
	if e, ok := errors.AsType[*Error](err); ok && unheard && e.kind == submission.Refused {
		after := *e
		after.Hint = "an order before this one was not answered, and may have begun: list the moves of the job"
		err = &after
	}
	return job, to, err
}

// MoveFilter selects moves. The zero MoveFilter selects all.
type MoveFilter struct {
	Job   string
	Site  string // from or to
	State MoveState
}

// MoveList is what a grid has of moves.
type MoveList struct {
	Moves   []Move    // the latest first
	Missing []Missing // the sites that did not answer
}

// Moves lists moves.
func (c *Client) Moves(ctx context.Context, f MoveFilter) (*MoveList, error) {
	filter, err := terms("job", f.Job, "site", f.Site, "state", string(f.State))
	if err != nil {
		return nil, err
	}
	missing := make(map[string]Missing)
	moves, err := pages(ctx, c, func(ctx context.Context, agent, token string) ([]Move, string, error) {
		if token == "" {
			clear(missing)
		}
		return c.face.moves(ctx, agent, filter, token, missing)
	})
	if err != nil {
		return nil, err
	}
	return &MoveList{Moves: moves, Missing: inOrder(missing)}, nil
}
