package client

import (
	"context"
	"maps"
	"slices"
)

// Drain makes a site take no new jobs and has those that wait there moved away.
// It returns the site's queue.
func (c *Client) Drain(ctx context.Context, site string) (*Status, error) {
	return c.setDraining(ctx, site, true)
}

// Resume makes a site take jobs again.
func (c *Client) Resume(ctx context.Context, site string) (*Status, error) {
	return c.setDraining(ctx, site, false)
}

func (c *Client) setDraining(ctx context.Context, site string, draining bool) (*Status, error) {
	return insist(ctx, c, func(ctx context.Context, agent string) (*Status, error) {
		return c.face.setDraining(ctx, agent, site, draining)
	})
}

// SettleAs is what an operator declares about a move that no server can finish,
// because the other one is lost for ever.
type SettleAs string

// The settlements. Each is wrong when the site that was declared lost has done
// the opposite: the job then runs twice, or not at all.
const (
	// SettleCommitted, at the target: the source had handed the job over. It
	// waits at the target. Wrong if the source has kept it: it runs twice. At the
	// source: the target got the job, which may have moved on; the source keeps
	// nothing of it any more. Wrong if nobody has it: it is lost.
	SettleCommitted SettleAs = "committed"
	// SettleAborted, at the target: the source had kept the job. It is dropped at
	// the target. Wrong if the source has handed it over: it is lost.
	SettleAborted SettleAs = "aborted"
	// SettleTakeBack, at the source: the target is lost. The job waits at the
	// source again. Wrong if the target has it: it runs twice.
	SettleTakeBack SettleAs = "take-back"
)

// Settlement is an operator's last resort.
type Settlement struct {
	Job    string // ID
	Epoch  uint32 // of the move that is settled
	As     SettleAs
	Reason string // the operator's word for the record
}

// Settle declares at a site what became of a move, and returns the job as that
// site has it then.
func (c *Client) Settle(ctx context.Context, site string, s Settlement) (*Job, error) {
	if err := checkID(s.Job); err != nil {
		return nil, err
	}
	return insist(ctx, c, func(ctx context.Context, agent string) (*Job, error) {
		return c.face.settle(ctx, agent, site, s)
	})
}

// inOrder returns what is missing by the names of the sites, each once.
func inOrder(missing map[string]Missing) []Missing {
	var list []Missing
	for _, site := range slices.Sorted(maps.Keys(missing)) {
		list = append(list, missing[site])
	}
	return list
}
