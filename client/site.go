package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Site is one cluster and the server in front of it.
type Site struct {
	Message      rpc.Message   // that it was decoded from
	Name         string        `proto:"site.name"`
	Address      string        `proto:"site.address"` // URL of its server
	Processors   int           `proto:"site.platform.processors"`
	Nodes        []Node        `proto:"site.platform.nodes"`
	Speed        float64       `proto:"site.speed"` // of a processor; 1.0 is the reference
	Policy       string        `proto:"site.policy"`
	Capabilities []string      `proto:"site.capabilities"`
	MaxWidth     int           `proto:"site.limits.width"`      // 0: no limit
	MaxWalltime  time.Duration `proto:"site.limits.walltime"`   // 0: no limit
	MaxFile      int64         `proto:"site.limits.file_bytes"` // 0: no limit

	Status   *Status       `proto:"status"`    // nil if the site did not answer
	HeardAgo time.Duration `proto:"heard_ago"` // since its last answer
	Missing  *Missing      `proto:"missing"`   // why there is no status
}

// MarshalJSON returns the JSON of a drover.v1.KnownSite.
func (s Site) MarshalJSON() ([]byte, error) { return rpc.JSON("KnownSite", s) }

// SiteList is a list of sites.
type SiteList struct {
	Sites []Site `proto:"sites"` // by name
}

// MarshalJSON returns the JSON of a drover.v1.ListSitesResponse.
func (l SiteList) MarshalJSON() ([]byte, error) { return rpc.JSON("ListSitesResponse", l) }

// Node is one host of a site.
type Node struct {
	Name       string `proto:"name"`
	Processors int    `proto:"processors"`
	Memory     int64  `proto:"memory_bytes"` // 0 if not known
}

// MarshalJSON returns the JSON of a drover.v1.Node.
func (n Node) MarshalJSON() ([]byte, error) { return rpc.JSON("Node", n) }

// Status is the state of a site's queue.
type Status struct {
	Message    rpc.Message // that it was decoded from
	Running    int         `proto:"running"`         // jobs
	Waiting    int         `proto:"waiting"`         // jobs
	Busy       int         `proto:"processors_busy"` // processors
	Processors int         `proto:"processors"`
	Load       float64     `proto:"load"`            // Busy / Processors, 0..1
	Backlog    float64     `proto:"backlog_seconds"` // processor-seconds by walltime
	Ended      int64       `proto:"ended"`           // jobs since the server started
	Draining   bool        `proto:"draining"`        // it takes no new jobs, and waiting jobs leave
	Degraded   bool        `proto:"degraded"`        // its disk is full or fails: it takes nothing new
	// LaunchProblem is why programs cannot be launched at the moment; empty if they can.
	LaunchProblem string `proto:"launch_problem"`
	// ClockOffset is how far the clock of the server's host is ahead of the site's, which follows it
	// only at the start of the server; 0 below 2 s.
	ClockOffset time.Duration `proto:"clock_offset"`
	// ServiceProblems are the services whose programs cannot be executed, or whose jobs fail at
	// once, by name.
	ServiceProblems []ServiceProblem `proto:"service_problems"`
	// Bound is how many waiting jobs stay when the site drains: those with an
	// agreement, or in a reservation.
	Bound      int        `proto:"bound"`
	Agreements Agreements `proto:"agreements"`
	Data       DataUsage  `proto:"data"`    // data that stays at the site
	Commits    int64      `proto:"commits"` // of its durable store since the server started
	Syncs      int64      `proto:"syncs"`   // of its durable store since the server started
	// Accuracy is how its estimates were kept, by service. Client.Accuracy sets it,
	// Client.Sites does not.
	Accuracy []Accuracy `proto:"accuracy"`
}

// ServiceProblem is what is wrong with a service of a site.
type ServiceProblem struct {
	Service string `proto:"service"`
	Reason  string `proto:"reason"`
	// Withdrawn is for how long the site does not offer it, 0 if it does. Its waiting jobs move.
	Withdrawn time.Duration `proto:"withdrawn_for"`
	// Delay is how much later than planned its jobs are expected to start.
	Delay time.Duration `proto:"delay"`
}

// MarshalJSON returns the JSON of a drover.v1.SiteStatus.
func (s Status) MarshalJSON() ([]byte, error) { return rpc.JSON("SiteStatus", s) }

// Accuracy is how a site's estimates for a service were kept, by the last few
// hundred jobs that ended there. A positive error is a job that was later than
// estimated.
type Accuracy struct {
	Service    string       `proto:"service"`
	Jobs       int          `proto:"jobs"`
	Kind       EstimateKind `proto:"kind"` // of the latest one
	Start      Errors       `proto:"start"`
	Completion Errors       `proto:"completion"`
	RunRatio   float64      `proto:"run_ratio"` // median of run time over estimated run time
}

// MarshalJSON returns the JSON of a drover.v1.Accuracy.
func (a Accuracy) MarshalJSON() ([]byte, error) { return rpc.JSON("Accuracy", a) }

// Errors sums up the errors of estimates.
type Errors struct {
	Bias   time.Duration `proto:"bias"` // mean
	Median time.Duration `proto:"median"`
	P50    time.Duration `proto:"p50"` // of the magnitudes, early or late
	P90    time.Duration `proto:"p90"` // of the magnitudes, early or late
}

// MarshalJSON returns the JSON of a drover.v1.Errors.
func (e Errors) MarshalJSON() ([]byte, error) { return rpc.JSON("Errors", e) }

// Agreements counts the agreements of a site since it was set up.
type Agreements struct {
	Accepted     int64   `proto:"accepted"`
	Kept         int64   `proto:"kept"`
	BrokenByUser int64   `proto:"broken_by_user"`
	BrokenBySite int64   `proto:"broken_by_site"`
	Void         int64   `proto:"void"`
	Value        float64 `proto:"value"`   // of those kept
	Penalty      float64 `proto:"penalty"` // of those broken by the site
}

// MarshalJSON returns the JSON of a drover.v1.AgreementCounts.
func (a Agreements) MarshalJSON() ([]byte, error) { return rpc.JSON("AgreementCounts", a) }

// DataUsage is how much of a site's storage for data is in use. It is zero for a
// site that stores no data.
type DataUsage struct {
	Handles    int   `proto:"handles"`
	Used       int64 `proto:"used_bytes"` // the same content counts once
	Quota      int64 `proto:"quota_bytes"`
	OwnerQuota int64 `proto:"owner_quota_bytes"` // of one owner; 0 for no bound
	Evicted    int64 `proto:"evicted"`           // handles evicted since the server started
}

// MarshalJSON returns the JSON of a drover.v1.DataUsage.
func (u DataUsage) MarshalJSON() ([]byte, error) { return rpc.JSON("DataUsage", u) }

func (u DataUsage) free() int64 { return max(u.Quota-u.Used, 0) }

// SiteDetail is a site with the state of its policy.
type SiteDetail struct {
	Message     rpc.Message // that it was decoded from
	Site        `proto:"site"`
	PolicyState *PolicyState `proto:"policy"` // nil if the policy reports none
}

// MarshalJSON returns the JSON of a drover.v1.AgentServiceGetSiteResponse.
func (s SiteDetail) MarshalJSON() ([]byte, error) {
	return rpc.JSON("AgentServiceGetSiteResponse", s)
}

// PolicyState is what a site's policy reports about itself.
type PolicyState struct {
	Active   string         `proto:"active"` // which of its policies it follows now
	Figures  []Figure       `proto:"figures"`
	Switches []PolicySwitch `proto:"switches"` // the latest first
}

// MarshalJSON returns the JSON of a drover.v1.PolicyState.
func (p PolicyState) MarshalJSON() ([]byte, error) { return rpc.JSON("PolicyState", p) }

// Figure is a named value.
type Figure struct {
	Name  string  `proto:"name"`
	Value float64 `proto:"value"`
}

// MarshalJSON returns the JSON of a drover.v1.PolicyFigure.
func (f Figure) MarshalJSON() ([]byte, error) { return rpc.JSON("PolicyFigure", f) }

// PolicySwitch is a change from one policy to another.
type PolicySwitch struct {
	At     time.Time `proto:"at"`
	From   string    `proto:"from"`
	To     string    `proto:"to"`
	Values []Figure  `proto:"values"` // of each policy: "SLDwA of SJF"
}

// MarshalJSON returns the JSON of a drover.v1.PolicySwitch.
func (s PolicySwitch) MarshalJSON() ([]byte, error) { return rpc.JSON("PolicySwitch", s) }

// Sites lists the sites that an agent knows, by name.
func (c *Client) Sites(ctx context.Context) ([]Site, error) { return c.sites(ctx, false) }

// Accuracy lists the sites with the accuracy of their estimates.
func (c *Client) Accuracy(ctx context.Context) ([]Site, error) { return c.sites(ctx, true) }

func (c *Client) sites(ctx context.Context, accuracy bool) ([]Site, error) {
	list, err := pages(ctx, c, func(ctx context.Context, agent, token string) (rpc.Message, error) {
		return c.conn.ListSites(ctx, agent, token, accuracy)
	}, func(all, page *SiteList) { all.Sites = append(all.Sites, page.Sites...) })
	if err != nil {
		return nil, err
	}
	return list.Sites, nil
}

// Site returns one site.
func (c *Client) Site(ctx context.Context, name string) (*SiteDetail, error) {
	return ask(ctx, c, func(ctx context.Context, agent string) (*SiteDetail, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		return as[SiteDetail](c.conn.GetSite(ctx, agent, name))
	})
}

// Drain makes a site take no new jobs and has its waiting jobs moved away. It
// returns the state of the site's queue.
func (c *Client) Drain(ctx context.Context, site string) (*Status, error) {
	return c.setDraining(ctx, site, true)
}

// Resume makes a site take jobs again.
func (c *Client) Resume(ctx context.Context, site string) (*Status, error) {
	return c.setDraining(ctx, site, false)
}

// ForgetSite drops a site that does not answer and never comes back. Its jobs count as unknown.
func (c *Client) ForgetSite(ctx context.Context, site string) error {
	_, err := retry(ctx, c, func(ctx context.Context, agent string) (struct{}, error) {
		return struct{}{}, c.conn.ForgetSite(ctx, agent, site)
	})
	return err
}

func (c *Client) setDraining(ctx context.Context, site string, draining bool) (*Status, error) {
	return retry(ctx, c, func(ctx context.Context, agent string) (*Status, error) {
		return as[Status](c.conn.SetDraining(ctx, agent, site, draining))
	})
}

// SiteUse is the use of a site's nodes and processors at one instant.
type SiteUse struct {
	Message rpc.Message // that it was decoded from
	At      time.Time   `proto:"at"` // on the site's clock
	Nodes   []NodeUse   `proto:"nodes"`
	Jobs    []JobUse    `proto:"jobs"`    // running or paused, in the order of their starts
	Waiting int         `proto:"waiting"` // jobs
	// Capabilities of the site; "shares=v1" says how it holds jobs to their shares.
	Capabilities []string `proto:"capabilities"`
}

// MarshalJSON returns the JSON of a drover.v1.WatchSiteResponse.
func (u SiteUse) MarshalJSON() ([]byte, error) { return rpc.JSON("WatchSiteResponse", u) }

// NodeUse is what a node has, and how much of it is allocated.
type NodeUse struct {
	Name       string  `proto:"name"`
	Processors int     `proto:"processors"`
	Given      float64 `proto:"given"`        // allocated processors
	Memory     int64   `proto:"memory_bytes"` // 0 if not known
	Tasks      int     `proto:"tasks"`
	// Away: the node does not answer, or can start nothing. The state of tasks that
	// ran there may be unknown.
	Away       bool   `proto:"away"`
	AwayReason string `proto:"away_reason"`
}

// MarshalJSON returns the JSON of a drover.v1.NodeUse.
func (u NodeUse) MarshalJSON() ([]byte, error) { return rpc.JSON("NodeUse", u) }

// JobUse is what a job has and uses. Shares and needs are fractions of a processor.
// Measured values are 0 where the site does not measure.
type JobUse struct {
	ID       string   `proto:"job_id"`
	Service  string   `proto:"service"`
	Owner    string   `proto:"owner"`
	Paused   bool     `proto:"paused"`
	Nodes    []string `proto:"nodes"`
	Tasks    int      `proto:"tasks"`
	Share    float64  `proto:"share"`             // of each task
	Yield    float64  `proto:"yield"`             // share over need
	Declared float64  `proto:"declared_cpu"`      // need of each task, in the request
	Need     float64  `proto:"need_cpu"`          // measured need of each task
	Used     float64  `proto:"used_cpu"`          // measured: processors of the node, all tasks together
	Memory   int64    `proto:"used_memory_bytes"` // measured: all tasks together

	CPUTime  time.Duration `proto:"used_cpu_time"` // measured: of its attempt, until Measured
	Measured time.Time     `proto:"measured_at"`   // on the site's clock

	DeclaredMemory int64 `proto:"declared_memory_bytes"` // need of each task, in the request; 0 for none
	MostMemory     int64 `proto:"measured_memory_bytes"` // measured: the most that one task used
}

// MarshalJSON returns the JSON of a drover.v1.JobUse.
func (u JobUse) MarshalJSON() ([]byte, error) { return rpc.JSON("JobUse", u) }

// WatchSite calls see with the use of a site, at once and then at an interval (100
// ms to an hour; 0 for a second), until see ends the watch or ctx ends.
func (c *Client) WatchSite(
	ctx context.Context, name string, every time.Duration, see func(*SiteUse) (end bool, err error),
) error {
	s, err := c.Site(ctx, name)
	if err != nil {
		return err
	}
	if s.Address == "" {
		return fmt.Errorf("site %s: no agent knows the address of its server", name)
	}
	return c.conn.WatchSite(ctx, s.Address, every, func(m rpc.Message) (bool, error) {
		use, err := as[SiteUse](m, nil)
		if err != nil {
			return true, err
		}
		return see(use)
	})
}

// addressOf returns the URL of a site's server.
func (c *Client) addressOf(ctx context.Context, site string) (string, error) {
	sites, err := c.Sites(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(sites, func(s Site) bool { return s.Name == site })
	if i < 0 {
		return "", &problem.Problem{
			Reason: problem.UnknownSite, Field: "site", Message: fmt.Sprintf("no agent knows a site %q", site),
			Hint: "drover sites lists the sites",
		}
	}
	return sites[i].Address, nil
}
