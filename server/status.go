package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// About describes the site.
func (s *Server) About() rpc.About {
	cfg, platform := &s.cfg, s.about.Platform
	return rpc.About{
		Name: cfg.Name, URL: s.url, API: apiVersion, Capabilities: s.capabilities(), Policy: cfg.policyName(),
		Speed:    cfg.Speed,
		Platform: platform, Width: cmp.Or(cfg.Limits.Width, platform.Width()),
		Walltime: cmp.Or(s.about.MaxWalltime, catalogue.MaxTime), FileBytes: int64(cfg.Limits.File),
	}
}

// Known returns the servers that the site knows of.
func (s *Server) Known() []gossip.Known { return s.group.Known() }

// Services returns the catalogue, in its order.
func (s *Server) Services() []*catalogue.Service { return s.cfg.Catalogue.Services() }

// CheckPeerName refuses an invalid site name and the name of this site.
func (s *Server) CheckPeerName(field, name string) error {
	if !config.IsName(name) || name == s.cfg.Name {
		return &problem.Problem{
			Reason: problem.BadValue, Field: field, Accepted: "the name of another site",
			Message: fmt.Sprintf("%s: site %.70q", field, name),
		}
	}
	return nil
}

// Status returns the site's queue and load.
func (s *Server) Status(ctx context.Context) (rpc.Status, error) {
	var out rpc.Status
	err := s.see(ctx, func() {
		out.Load, out.Draining, out.Agreements = s.core.Load(), s.core.Draining(),
			s.core.Agreements()
		out.ServiceProblems = s.core.ServiceProblems(s.now())
	})
	if err != nil {
		return rpc.Status{}, err
	}
	// The batch system can allocate processors again before the core knows that the
	// job that held them has ended.
	out.Load.Busy = min(out.Load.Busy, out.Load.Processors)
	stats := s.store.Stats()
	out.Commits, out.Syncs = stats.Commits, stats.Syncs
	out.Degraded, out.Data = s.disk.degraded(), s.depot.Usage()
	_, out.LaunchProblem = s.launches.closed(time.Now())
	out.ClockOffset = offset(s.now(), time.Now())
	return out, nil
}

// Accuracy returns the accuracy of earlier estimates.
func (s *Server) Accuracy(ctx context.Context) (all []site.Accuracy, err error) {
	err = s.see(ctx, func() { all = s.core.Accuracy() })
	return all, err
}

// WatchUsage sends what nodes and jobs hold and use, until ctx or the server ends.
func (s *Server) WatchUsage(ctx context.Context, interval time.Duration, send func(*rpc.Usage) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		now, err := s.usage(ctx)
		if err != nil {
			return err
		}
		if err := send(now); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return errStopping
		}
	}
}

// usage returns what nodes and jobs hold and use now.
func (s *Server) usage(ctx context.Context) (*rpc.Usage, error) {
	snap, err := s.system.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	out := &rpc.Usage{At: snap.Taken, Waiting: len(snap.Waiting)}
	away := s.awayReasons()
	for _, n := range snap.Platform.Nodes {
		out.Nodes = append(out.Nodes, rpc.NodeUsage{
			Name: n.Name, Processors: n.Processors, Memory: n.Memory,
			Away: away[n.Name],
		})
	}
	running := slices.SortedStableFunc(slices.Values(snap.Running), func(a, b batch.Found) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Key.Job, b.Key.Job))
	})
	err = s.see(ctx, func() {
		for i := range running {
			if j, err := s.core.Job(running[i].Key.Job); err == nil && j.Key() == running[i].Key {
				out.Jobs = append(out.Jobs, s.jobUsage(&j, &running[i], out.Nodes))
			}
		}
	})
	return out, err
}

// jobUsage returns what one job holds and uses. It adds its allocation to nodes.
func (s *Server) jobUsage(j *site.Job, f *batch.Found, nodes []rpc.NodeUsage) rpc.JobUsage {
	u := rpc.JobUsage{Job: *j, Paused: f.Phase == batch.PhasePaused, Nodes: f.Nodes, Declared: batch.One}
	if j.Needs != nil && j.Needs.CPU > 0 {
		u.Declared = j.Needs.CPU
	}
	u.Tasks, u.Share = tasksOf(f.Allocation)
	if u.Paused {
		u.Share = 0
	} else {
		for _, l := range f.Allocation {
			if l.Node >= 0 && int(l.Node) < len(nodes) {
				nodes[l.Node].Allocated += float64(l.Processors) * float64(l.Share) / float64(batch.One)
				nodes[l.Node].Tasks += l.Processors
			}
		}
	}
	planned := u.Declared // what the policy plans with
	if s.shared != nil {
		if r, measured := s.shared.gauge.read(f.Key); measured {
			u.Need, u.CPURate, u.Memory, u.PeakMemory, u.CPUTime, u.MeasuredAt = r.need, r.rate, r.memory, r.most,
				r.cpu, r.at
			if s.cfg.Policy.Settings["discover"] != "off" {
				planned = r.need
			}
		}
	}
	u.Yield = min(float64(u.Share)/float64(planned), 1)
	return u
}

// maxSwitches bounds the policy switches in a report.
const maxSwitches = 20

// inspected is a batch system with a policy that gives reports.
type inspected interface {
	Inspect(ctx context.Context, see func(batch.Policy)) error
}

// PolicyReport returns what the site's policy reports, false if it reports nothing.
func (s *Server) PolicyReport(ctx context.Context) (r policy.Report, ok bool, err error) {
	system, able := s.system.(inspected)
	if !able {
		return r, false, nil
	}
	err = system.Inspect(ctx, func(p batch.Policy) { r, ok = policy.ReportOf(s.cfg.Policy.Name, p, maxSwitches) })
	return r, ok && err == nil, err
}

// Now returns the current time of the batch system.
func (s *Server) Now() batch.Time { return s.now() }
