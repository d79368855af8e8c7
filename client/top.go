package client

import (
	"context"
	"fmt"
	"time"
)

// SiteUse is who has what of a site at one instant.
type SiteUse struct {
	At      time.Time // on the site's clock
	Nodes   []NodeUse
	Jobs    []JobUse // that run or are paused, in the order of their starts
	Waiting int      // jobs
	// Capabilities of the site; "shares=v1" and the like say what holds jobs to shares.
	Capabilities []string
}

// NodeUse is what a node has, and what is given away of it.
type NodeUse struct {
	Name       string
	Processors int
	Given      float64 // processors
	Memory     int64   // bytes; 0 for not known
	Tasks      int
	// Away: it does not answer, or can start nothing. Nothing begins there, and what ran
	// there may be unknown.
	Away       bool
	AwayReason string
}

// JobUse is what a job has and uses. Processors are parts of one.
type JobUse struct {
	ID       string
	Service  string
	Owner    string
	Paused   bool
	Nodes    []string
	Tasks    int
	Share    float64 // of a processor that each task has
	Yield    float64 // share over need
	Declared float64 // need of each task, as the request says
	Need     float64 // as it was found out; 0 where nothing is measured, as the rest
	Used     float64 // processors of the host, all tasks together
	Memory   int64   // bytes

	CPUTime  time.Duration // of processors, used by its attempt until Measured
	Measured time.Time     // on the site's clock; zero where nothing is

	DeclaredMemory int64 // need of each task, as the request says, bytes; 0 for nothing
	MostMemory     int64 // that one task used at most, bytes
}

// WatchSite calls see with who has what of a site, at once and then as often as every
// says (100 ms to an hour; 0 for a second), until see or ctx ends that.
func (c *Client) WatchSite(ctx context.Context, name string, every time.Duration, see func(*SiteUse) (end bool, err error)) error {
	s, err := c.Site(ctx, name)
	if err != nil {
		return err
	}
	if s.Address == "" {
		return fmt.Errorf("site %s: no agent knows where its server is", name)
	}
	return c.face.watchSite(ctx, s.Address, every, see)
}
