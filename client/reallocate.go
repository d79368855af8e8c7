package client

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// ReallocateOrder configures a round of reallocation. An empty or nil field takes the
// agent's configuration.
type ReallocateOrder struct {
	DryRun    bool   `proto:"dry_run"`   // only report what the round would do
	Algorithm string `proto:"algorithm"` // "regular" or "all-cancellation"
	Heuristic string `proto:"heuristic"` // "mct", "minmin", "maxmin", "sufferage", "maxgain" or "maxrelgain"
	Window    string `proto:"window"`    // how many of the oldest waiting jobs the heuristic compares, or "all"
	// Threshold is the gain that the regular algorithm demands if the time to transfer
	// the job's input is not known; LeastGain is the gain that any move must have.
	Threshold      *time.Duration `proto:"threshold"`
	LeastGain      *time.Duration `proto:"least_gain"`
	MostMovesRound *int           `proto:"most_moves_round"` // 0: no bound
}

// Reallocation is the result of a round.
type Reallocation struct {
	Message rpc.Message // that it was decoded from
	Round   RoundRecord `proto:"record"`
	// Jobs are the jobs that it moves, or gives another slot at their site, in the order
	// of its decisions. A long list is cut.
	Jobs    []ReallocatedJob `proto:"jobs"`
	Missing []MissingSite    `proto:"missing"` // the sites that took no part
}

// MarshalJSON returns the JSON of a drover.v1.ReallocateResponse.
func (r Reallocation) MarshalJSON() ([]byte, error) { return rpc.JSON("ReallocateResponse", r) }

// RoundRecord is a round in figures.
type RoundRecord struct {
	ID        string    `proto:"round"`
	Agent     string    `proto:"agent"`
	Began     time.Time `proto:"began_at"` // on the agent's clock
	DryRun    bool      `proto:"dry_run"`
	Algorithm string    `proto:"algorithm"`
	Heuristic string    `proto:"heuristic"`
	Window    string    `proto:"window"`
	Sites     int       `proto:"sites"` // that took part
	Jobs      int       `proto:"jobs"`  // that waited there and can be moved
	Held      int       `proto:"held"`  // all-cancellation: taken out of the plans
	// all-cancellation: not taken out, out of patience or accepted by no site
	Kept      int           `proto:"kept"`
	Moves     int           `proto:"moves"`     // decided
	Failed    int           `proto:"failed"`    // moves and placements that could not be ordered
	Later     int           `proto:"later"`     // jobs with a later slot than before
	Questions int           `proto:"questions"` // each to one site, about any number of jobs
	Estimates int64         `proto:"estimates"`
	Gain      time.Duration `proto:"gain"`     // of all moves
	Thinking  time.Duration `proto:"thinking"` // time in the heuristic
	Asking    time.Duration `proto:"asking"`   // time in calls
	Took      time.Duration `proto:"took"`     // of the whole round
}

// MarshalJSON returns the JSON of a drover.v1.RoundRecord.
func (r RoundRecord) MarshalJSON() ([]byte, error) { return rpc.JSON("RoundRecord", r) }

// ReallocatedJob is what a round does with a job. Its ECTs count from the beginning
// of the round.
type ReallocatedJob struct {
	ID        string           `proto:"job_id"`
	Service   string           `proto:"service"`
	From      string           `proto:"from"` // site
	To        string           `proto:"to"`   // site; the same as From for another slot there
	Before    Shape            `proto:"before"`
	After     Shape            `proto:"after"`
	ECTBefore time.Duration    `proto:"ect_before"`
	ECTAfter  time.Duration    `proto:"ect_after"`
	Gain      time.Duration    `proto:"gain"`    // negative for a later slot
	Ordered   bool             `proto:"ordered"` // and its site has begun
	Problem   *problem.Problem `proto:"problem"` // why it was not ordered
}

// MarshalJSON returns the JSON of a drover.v1.ReallocatedJob.
func (j ReallocatedJob) MarshalJSON() ([]byte, error) { return rpc.JSON("ReallocatedJob", j) }

// Reallocate has an agent run a round of reallocation. It returns when the moves are
// ordered; Moves reports their ends.
func (c *Client) Reallocate(ctx context.Context, o ReallocateOrder) (*Reallocation, error) {
	return ask(ctx, c, func(ctx context.Context, agent string) (*Reallocation, error) {
		return as[Reallocation](c.conn.Reallocate(ctx, agent, o))
	})
}
