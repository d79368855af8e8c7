package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// nodeUse is what a node has, and what is given away of it.
type nodeUse struct {
	name       string
	processors int32
	memory     int64
	given      float64 // processors
	tasks      int32
	away       string // why it is not there
}

// jobUse is what a job has and uses.
type jobUse struct {
	job      site.Job
	paused   bool
	nodes    []string
	tasks    int32
	share    batch.Share
	declared batch.Share
	planned  batch.Share // what the policy takes for its need
	reading              // zero where nothing is measured
	measured bool
}

// uses is who has what at one instant.
type uses struct {
	at      time.Time
	nodes   []nodeUse
	jobs    []jobUse
	waiting int
}

// inUse returns who has what.
func (s *Server) inUse(ctx context.Context) (*uses, error) {
	snap, err := s.system.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	out := &uses{at: snap.Taken, waiting: len(snap.Waiting)}
	away := s.awayWhy()
	for _, n := range snap.Platform.Nodes {
		out.nodes = append(out.nodes, nodeUse{name: n.Name, processors: n.Processors, memory: n.Memory, away: away[n.Name]})
	}
	running := slices.SortedStableFunc(slices.Values(snap.Running), func(a, b batch.Found) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Key.Job, b.Key.Job))
	})
	err = s.see(ctx, func() {
		for i := range running {
			if j, err := s.core.Job(running[i].Key.Job); err == nil && j.Key() == running[i].Key {
				out.jobs = append(out.jobs, s.used(&j, &running[i], out.nodes))
			}
		}
	})
	return out, err
}

// used returns what one job has, and adds that to what is given away of the nodes.
func (s *Server) used(j *site.Job, f *batch.Found, nodes []nodeUse) jobUse {
	u := jobUse{job: *j, paused: f.Phase == batch.PhasePaused, nodes: f.Nodes, declared: batch.One}
	if j.Needs != nil && j.Needs.CPU > 0 {
		u.declared = j.Needs.CPU
	}
	u.tasks, u.share = tasksOf(f.Allocation)
	if u.paused {
		u.share = 0
	} else {
		for _, l := range f.Allocation {
			if l.Node >= 0 && int(l.Node) < len(nodes) {
				nodes[l.Node].given += float64(l.Processors) * float64(l.Share) / float64(batch.One)
				nodes[l.Node].tasks += l.Processors
			}
		}
	}
	if s.shared != nil {
		u.reading, u.measured = s.shared.gauge.read(f.Key)
	}
	if u.planned = u.declared; u.measured && s.cfg.Policy.Settings["discover"] != "off" {
		u.planned = u.need
	}
	return u
}

// yield returns the part of its need that each task of a job has.
func (u *jobUse) yield() float64 {
	return min(float64(u.share)/float64(u.planned), 1)
}
