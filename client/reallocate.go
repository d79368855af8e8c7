package client

import (
	"context"
	"time"
)

// ReallocateOrder says how a round of reallocation is made. What is empty or nil is
// as the agent is configured.
type ReallocateOrder struct {
	DryRun    bool   // only say what would be done
	Algorithm string // "regular" or "all-cancellation"
	Heuristic string // "mct", "minmin", "maxmin", "sufferage", "maxgain" or "maxrelgain"
	Window    string // how many of the oldest waiting jobs the heuristic compares, or "all"
	// Threshold is what regular demands of a move when it is not known how long the
	// job's input would travel; LeastGain is what any move must bring.
	Threshold, LeastGain *time.Duration
	MostMovesRound       *int // 0: no bound
}

// Reallocation is what a round has come to.
type Reallocation struct {
	Round RoundRecord
	// Jobs are those that it moves, or puts elsewhere in the plan of their site, in
	// the order in which it decided about them; of very many the first.
	Jobs    []ReallocatedJob
	Missing []Missing // the sites that were left out
}

// RoundRecord is a round in figures.
type RoundRecord struct {
	ID, Agent                    string
	Began                        time.Time // on the agent's clock
	DryRun                       bool
	Algorithm, Heuristic, Window string
	Sites                        int // that took part
	Jobs                         int // that waited there and may be moved
	Held, Kept                   int // of all-cancellation: taken out of the plans, and left at their places: out of patience, or taken by nobody
	Moves                        int // that were decided
	Failed                       int // moves and placements that could not be ordered
	Later                        int // jobs put back later than they were
	Questions                    int // each to one site about any number of jobs
	Estimates                    int64
	Gain                         time.Duration // of all moves
	Thinking, Asking, Took       time.Duration // of the heuristic, in calls, and of the whole round
}

// ReallocatedJob is what a round does with a job. Its ECTs count from the beginning
// of the round.
type ReallocatedJob struct {
	ID, Service         string
	From, To            string // sites; the same if it is put elsewhere in the plan there
	Before, After       Shape
	ECTBefore, ECTAfter time.Duration
	Gain                time.Duration // negative for one that is put back later
	Ordered             bool          // and its site has begun to do it
	Problem             *Error        // why it was not
}

// Reallocate has an agent run a round of reallocation. What was ordered is on its
// way when it returns; Moves says what came of it.
func (c *Client) Reallocate(ctx context.Context, o ReallocateOrder) (*Reallocation, error) {
	return ask(ctx, c, func(ctx context.Context, agent string) (*Reallocation, error) {
		return c.face.reallocate(ctx, agent, o)
	})
}
