package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// distant is the keeper of jobs on other hosts, whole processors or shares of them.
//
//	exec ─▶ distant ─▶ batch/exec/node/pool ─▶ host ─▶ batch/exec/node/remote ─▶ drover node
//	            └─ site.Run: on which nodes, started how often
//
// What decides whether an attempt runs lies on its nodes. Which those are is on record
// before anything is sent, so an attempt without such a record has never been launched.
type distant struct {
	*sharing
	nodes []batch.Node // of the configuration
	hosts []*host      // likewise
	job   func(ctx context.Context, id batch.JobID) (site.Job, error)

	mu    sync.Mutex
	since map[batch.Key]time.Time // since when those run that were taken over
	gone  map[int32]bool          // nodes that are not there
}

// metaID is the key under which the store keeps by what the nodes know this directory.
const metaID = "id"

// siteID returns the ID of the data directory, made when it is first asked for. Nodes
// serve the directory that has claimed them.
func (s *Server) siteID() (string, error) {
	known, err := s.store.Meta(metaID)
	if err == nil {
		return string(known), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("read the store: %w", err)
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("ID of the data directory: %w", err)
	}
	id := hex.EncodeToString(random[:])
	var b store.Batch
	b.SetMeta(metaID, []byte(id))
	return id, s.store.Commit(&b)
}

// reach makes the keeper of nodes that have addresses. It waits for none of them.
func (s *Server) reach() (*distant, error) {
	id, err := s.siteID()
	if err != nil {
		return nil, err
	}
	k := &distant{
		sharing: &sharing{log: s.log},
		nodes:   s.about.Platform.Nodes,
		since:   make(map[batch.Key]time.Time), gone: make(map[int32]bool),
		job: func(ctx context.Context, id batch.JobID) (site.Job, error) {
			r, err := s.Job(ctx, string(id))
			return r, err
		},
	}
	meter := newFarMeter()
	cfg := pool.Config{Lease: s.cfg.Lease, Grace: s.cfg.Grace, Logger: s.log.Named("pool")}
	for i, n := range s.about.Platform.Nodes { // one for each entry, as none has a count
		far := remote.New(remote.Config{
			Name: n.Name, Address: s.cfg.Nodes[i].Address, Site: s.cfg.Name, SiteID: id, UseInterval: gaugeEvery, Measured: meter.take, Logger: s.log.Named("node"),
		})
		h := &host{Node: pool.Remote(far, s.cfg.worth), far: far, want: n, log: s.log.With("node", n.Name)}
		k.hosts = append(k.hosts, h)
		cfg.Names, cfg.Nodes = append(cfg.Names, n.Name), append(cfg.Nodes, h)
	}
	if k.pool, err = pool.New(cfg); err != nil {
		for _, h := range k.hosts {
			h.far.Close()
		}
		return nil, err
	}
	meter.hosts = k.hosts
	k.gauge = newGauge(meter, cmp.Or(s.cfg.worth, cgroup.Processor), k.pool)
	return k, nil
}

// hostsOf says for the batch system which nodes are one host: nil for all.
func (c *Config) hostsOf() []int32 {
	if !c.distant() {
		return nil
	}
	each := make([]int32, len(c.Nodes))
	for i := range each {
		each[i] = int32(i)
	}
	return each
}

// Bar is keeper's. What a node has to say Attach asks it.
func (k *distant) Bar(batch.Key) (won bool, err error) { return false, nil }

// Attach is keeper's.
func (k *distant) Attach(ctx context.Context, key batch.Key, j *site.Job) (attempt.Status, exec.Launched, error) {
	if k.followed.has(key) {
		return attempt.Status{}, nil, fmt.Errorf("attempt of %s: %w", key.Job, supervisor.ErrFollowed)
	}
	asked := j
	if asked == nil {
		now, err := k.job(ctx, key.Job)
		if err != nil {
			return attempt.Status{}, nil, err
		}
		asked = &now
	}
	if asked.Key() != key || asked.Run == nil || len(asked.Run.Places) == 0 {
		return attempt.Status{Condition: attempt.Unclaimed}, nil, nil
	}
	places, err := renumber(k.nodes, asked)
	if err != nil {
		return attempt.Status{}, nil, err
	}
	st, p, err := k.pool.Recover(ctx, key, asked.Run.Launch, places)
	switch {
	case err != nil || p == nil:
		return st, nil, err
	case j == nil:
		p.Detach() // nobody follows it
		return st, nil, nil
	}
	k.mu.Lock()
	k.since[key] = began(j, &st, time.Now())
	k.mu.Unlock()
	return st, k.task(key, j, places, p), nil
}

// began returns since when an attempt runs that is taken over: as this server has written
// it down, else as its node has, if that answers, by whose clock it may be later than now.
func began(j *site.Job, st *attempt.Status, now time.Time) time.Time {
	at := now
	switch {
	case j.Started != batch.Never:
		at = time.UnixMicro(int64(j.Started))
	case !st.Started.IsZero():
		at = st.Started
	}
	if at.After(now) {
		return now
	}
	return at
}

// Age is keeper's.
func (k *distant) Age(key batch.Key) (time.Duration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, known := k.since[key]
	if !known {
		return 0, fmt.Errorf("attempt of %s: nothing is known of its start", key.Job)
	}
	delete(k.since, key) // asked once
	return time.Since(since), nil
}

// Close is keeper's.
func (k *distant) Close() {
	k.pool.Close()
	for _, h := range k.hosts {
		h.far.Close()
	}
}

// relocate gives the places of an attempt the numbers that their nodes have now.
func (s *Server) relocate(j *site.Job) error {
	if !s.cfg.distant() || j.Run == nil || len(j.Run.Places) == 0 {
		return nil
	}
	run := *j.Run
	var err error
	if run.Places, err = renumber(s.about.Platform.Nodes, j); err != nil {
		return err
	}
	j.Run = &run
	return nil
}

func renumber(nodes []batch.Node, j *site.Job) ([]batch.NodeAllocation, error) {
	names := namesAlong(j.Run.Nodes, j.Run.Places)
	if names == nil {
		return nil, fmt.Errorf("job %s: its record does not say on which nodes it is", j.ID)
	}
	places := slices.Clone(j.Run.Places)
	for i := range places {
		at := slices.IndexFunc(nodes, func(n batch.Node) bool { return n.Name == names[i] })
		if at < 0 {
			return nil, &goneError{job: j.ID, node: names[i]}
		}
		places[i].Node = int32(at)
	}
	return places, nil
}

// goneError says that a job may run on a node that the configuration has no more.
type goneError struct {
	job  batch.JobID
	node string
}

// Error says what to do.
func (e *goneError) Error() string {
	return fmt.Sprintf("configuration: job %s may run on node %s, which is not there any more: start with it until the job has ended; if the node never answers again, that is when its lease is over", e.job, e.node)
}

// namesAlong returns the name of each place's node, where the names are those of the
// nodes in the order of the places; nil if they cannot be.
func namesAlong(names []string, places []batch.NodeAllocation) []string {
	all := make([]string, len(places))
	of := make(map[int32]string)
	rest := names
	for i, l := range places {
		name, known := of[l.Node]
		switch {
		case !known && len(rest) == 0:
			return nil
		case !known:
			name, rest = rest[0], rest[1:]
			of[l.Node] = name
		case i > 0 && places[i-1].Node != l.Node && len(rest) > 0 && rest[0] == name:
			rest = rest[1:] // it is named once more
		}
		all[i] = name
	}
	if len(rest) > 0 {
		return nil
	}
	return all
}

// offers says how the site holds tasks to what they get: of other hosts the poorest way of
// those that have answered.
func (s *Server) offers() []string {
	var able []string
	k, far := s.keeper.(*distant)
	switch {
	case far:
		able = k.poorest()
	case s.shared != nil:
		for _, o := range s.shared.host.Offers() {
			able = append(able, fmt.Sprintf("%s=%s", o.Ability, o.Way))
		}
	}
	return able
}

// poorest returns for each ability the poorest way of a host.
func (k *distant) poorest() []string {
	ways := []string{cgroup.None.String(), cgroup.Signals.String(), cgroup.Duty.String(), cgroup.V1.String(), cgroup.V2.String()}
	worst := make(map[string]int)
	var order []string
	for _, h := range k.hosts {
		for _, o := range h.offers() {
			way, known := worst[o.Ability]
			if !known {
				order, way = append(order, o.Ability), len(ways)-1
			}
			worst[o.Ability] = min(way, max(0, slices.Index(ways, o.Way)))
		}
	}
	able := make([]string, len(order))
	for i, ability := range order {
		able[i] = ability + "=" + ways[worst[ability]]
	}
	return able
}
