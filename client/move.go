package client

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// MoveState is the state of a move.
type MoveState string

// The states of a move.
const (
	MovePending MoveState = "pending"
	MoveMoved   MoveState = "moved"   // the job is at the other site
	MoveAborted MoveState = "aborted" // the job has stayed
)

// Move is one attempt to move a job to another site. Times are on the clock of the
// site that reports it; a zero Time has not happened.
type Move struct {
	Message    rpc.Message // that it was decoded from
	Job        string      `proto:"job_id"`
	Service    string      `proto:"service"`
	From       string      `proto:"from"`  // site
	To         string      `proto:"to"`    // site
	Epoch      uint32      `proto:"epoch"` // of this attempt
	State      MoveState   `proto:"state"`
	Ordered    time.Time   `proto:"ordered_at"`
	Settled    time.Time   `proto:"settled_at"`
	Reason     string      `proto:"reason"` // "by hand", "drain", "reallocation"
	Agent      string      `proto:"agent"`  // that ordered it
	AbortedWhy string      `proto:"aborted_why"`
	// PredictedGain is how much earlier the job was to end, RealizedGain how much
	// earlier it ended; nil if not known.
	PredictedGain *time.Duration `proto:"predicted_gain"`
	RealizedGain  *time.Duration `proto:"realized_gain"`
	MinGain       *time.Duration `proto:"min_gain"` // that was asked for; nil for any
}

// MarshalJSON returns the JSON of a drover.v1.Move.
func (m Move) MarshalJSON() ([]byte, error) { return rpc.JSON("Move", m) }

// MoveOrder describes a move.
type MoveOrder struct {
	To      string         `proto:"to"`       // site; empty for the one that finishes the job first
	MinGain *time.Duration `proto:"min_gain"` // how much earlier the job must end there; nil for any
	Reason  string         `proto:"reason"`   // for the record; empty for "by hand"
}

// moveBegun is the answer to a MoveOrder.
type moveBegun struct {
	Job *Job   `proto:"job"`
	To  string `proto:"to.site"`
}

// Move has a waiting job moved. The answer says that the move has begun, and to
// which site; Moves reports its end.
func (c *Client) Move(ctx context.Context, id string, o MoveOrder) (job *Job, to string, err error) {
	if err := checkID(id); err != nil {
		return nil, "", err
	}
	order := struct {
		Job   string    `proto:"job_id"`
		Order MoveOrder `proto:"."`
	}{id, o}
	silent := false
	begun, err := retry(ctx, c, func(ctx context.Context, agent string) (*moveBegun, error) {
		begun, err := as[moveBegun](c.conn.MoveJob(ctx, agent, order))
		silent = silent || err != nil && submission.FailureOf(err).Kind == submission.Silent
		return begun, err
	})
	if err != nil {
		if p, ok := errors.AsType[*problem.Problem](err); ok && silent &&
			submission.FailureOf(err).Kind == submission.Refused {
			after := *p
			after.Hint = "an earlier order was not answered, and may have begun: list the moves of the job"
			err = &after
		}
		return nil, "", err
	}
	return begun.Job, begun.To, nil
}

// MoveFilter selects moves. The zero MoveFilter selects all.
type MoveFilter struct {
	Job   string
	Site  string // from or to
	State MoveState
}

// MoveList is a list of moves.
type MoveList struct {
	Moves   []Move        `proto:"moves"`   // the latest first
	Missing []MissingSite `proto:"missing"` // the sites that did not answer
}

// MarshalJSON returns the JSON of a drover.v1.AgentServiceListMovesResponse.
func (l MoveList) MarshalJSON() ([]byte, error) { return rpc.JSON("AgentServiceListMovesResponse", l) }

// Moves lists moves.
func (c *Client) Moves(ctx context.Context, f MoveFilter) (*MoveList, error) {
	filter, err := terms("job", f.Job, "site", f.Site, "state", string(f.State))
	if err != nil {
		return nil, err
	}
	return pages(ctx, c, func(ctx context.Context, agent, token string) (rpc.Message, error) {
		return c.conn.ListMoves(ctx, agent, filter, token)
	}, func(all, page *MoveList) {
		all.Moves = append(all.Moves, page.Moves...)
		all.Missing = merged(all.Missing, page.Missing)
	})
}

// SettleAs is an operator's decision about a move that no server can finish, because
// the other server is lost for ever.
type SettleAs string

// The settlements. Each is wrong if the site that was declared lost did the
// opposite: the job then runs twice, or never.
const (
	// SettleCommitted, at the target: the source handed the job over, and it waits at
	// the target. If the source kept it, it runs twice. At the source: the target has
	// the job, or moved it on; the source forgets it. If no site has it, it is lost.
	SettleCommitted SettleAs = "committed"
	// SettleAborted, at the target: the source kept the job, and the target drops it.
	// If the source handed it over, it is lost.
	SettleAborted SettleAs = "aborted"
	// SettleTakeBack, at the source: the target is lost, and the job waits at the
	// source again. If the target has it, it runs twice.
	SettleTakeBack SettleAs = "take-back"
)

// Settlement is an operator's last resort.
type Settlement struct {
	Job    string   `proto:"job_id"`
	Epoch  uint32   `proto:"epoch"` // of the move that is settled
	As     SettleAs `proto:"settlement"`
	Reason string   `proto:"reason"` // the operator's, for the record
}

// Settle declares at a site what became of a move, and returns the job as that site
// has it then.
func (c *Client) Settle(ctx context.Context, site string, s Settlement) (*Job, error) {
	if err := checkID(s.Job); err != nil {
		return nil, err
	}
	return retry(ctx, c, func(ctx context.Context, agent string) (*Job, error) {
		return as[Job](c.conn.SettleJob(ctx, agent, site, s))
	})
}
