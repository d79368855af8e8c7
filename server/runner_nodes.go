package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// nodeRunner runs jobs on other hosts, with whole processors or shares of them.
//
//	exec ─▶ nodeRunner ─▶ batch/exec/node/pool ─▶ host ─▶ batch/exec/node/remote ─▶ drover node
//	             └─ site.Run: its nodes, and how its program is launched on them
//
// The claim files of an attempt are on its nodes. The nodes are recorded before anything is sent to
// them, so an attempt without that record was never launched.
type nodeRunner struct {
	*sharedRunner
	nodes []batch.Node // of the configuration
	hosts []*host      // one for each node
	job   func(ctx context.Context, id batch.JobID) (site.Job, error)

	mu    sync.Mutex
	since map[batch.Key]time.Time // start times of adopted attempts
	gone  map[int32]bool          // nodes that are down
}

// metaID is the store's key for the ID that identifies this data directory to the nodes.
const metaID = "id"

// siteID returns the ID of the data directory and creates it on first use. A node serves only the
// data directory that claimed it.
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

// reach creates the runner for nodes with addresses. It does not wait for them.
func (s *Server) reach() (*nodeRunner, error) {
	id, err := s.siteID()
	if err != nil {
		return nil, err
	}
	k := &nodeRunner{
		sharedRunner: &sharedRunner{log: s.log},
		nodes:        s.about.Platform.Nodes,
		since:        make(map[batch.Key]time.Time), gone: make(map[int32]bool),
		job: func(ctx context.Context, id batch.JobID) (site.Job, error) {
			r, err := s.Job(ctx, string(id))
			return r, err
		},
	}
	meter := newFarMeter()
	cfg := pool.Config{Lease: s.cfg.Lease, Grace: s.cfg.Grace, Logger: s.log.Named("pool")}
	for i, n := range s.about.Platform.Nodes { // one for each entry, as none has a count
		far := remote.New(remote.Config{
			Name: n.Name, Address: s.cfg.Nodes[i].Address, Site: s.cfg.Name, SiteID: id, UseInterval: gaugeEvery,
			Measured: meter.take, Logger: s.log.Named("node"),
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

// hostsOf returns for the batch system which nodes share a host: nil if all do.
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

// Bar implements runner. The claims are on the nodes; Attach asks those.
func (k *nodeRunner) Bar(batch.Key) (won bool, err error) { return false, nil }

// Attach implements runner.
func (k *nodeRunner) Attach(ctx context.Context, key batch.Key, j *site.Job) (attempt.Status, exec.Launched, error) {
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
		p.Detach() // no one waits for it
		return st, nil, nil
	}
	k.mu.Lock()
	k.since[key] = began(j, &st, time.Now())
	k.mu.Unlock()
	return st, k.task(key, j, places, p), nil
}

// began returns the start of an adopted attempt: from the server's record, else from its node. It
// is at most now, because a node's clock can be ahead.
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

// Age implements runner.
func (k *nodeRunner) Age(key batch.Key) (time.Duration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, known := k.since[key]
	if !known {
		return 0, fmt.Errorf("attempt of %s: its start is unknown", key.Job)
	}
	delete(k.since, key) // asked once
	return time.Since(since), nil
}

// Close implements runner.
func (k *nodeRunner) Close() {
	k.pool.Close()
	for _, h := range k.hosts {
		h.far.Close()
	}
}

// relocate renumbers an attempt's allocation to the current indices of its nodes.
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
		return nil, fmt.Errorf("job %s: its record lacks the names of its nodes", j.ID)
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

// goneError reports that a job may run on a node that is no longer configured.
type goneError struct {
	job  batch.JobID
	node string
}

// Error explains what the operator can do.
func (e *goneError) Error() string {
	return fmt.Sprintf("configuration: job %s may run on node %s, which is no longer configured: "+
		"keep the node until the job has ended; if the node never answers again, the job ends with its lease", e.job,
		e.node)
}

// namesAlong returns the node name of each part of an allocation, for names in the order of the
// parts; nil if they do not match.
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
			rest = rest[1:] // the name is repeated
		}
		all[i] = name
	}
	if len(rest) > 0 {
		return nil
	}
	return all
}

// offers returns how the site limits the resources of tasks: for remote hosts the weakest mechanism
// among those that have answered.
func (s *Server) offers() []string {
	var able []string
	k, far := s.runner.(*nodeRunner)
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

// poorest returns for each resource the weakest mechanism of a host.
func (k *nodeRunner) poorest() []string {
	ways := []string{
		cgroup.None.String(), cgroup.Signals.String(), cgroup.Duty.String(), cgroup.V1.String(),
		cgroup.V2.String(),
	}
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

// host is a node that is another host. The server asks for its description whenever it answers
// again.
type host struct {
	pool.Node
	far  *remote.Node
	want batch.Node // the configured node
	log  hclog.Logger

	mu    sync.Mutex
	known bool // described since it last stopped answering
	about node.Description
}

// Renew implements pool.Node. The pool does not call it concurrently.
func (h *host) Renew(ctx context.Context, lease time.Duration) error {
	err := h.Node.Renew(ctx, lease)
	h.mu.Lock()
	known := h.known && err == nil
	h.known = known
	h.mu.Unlock()
	if err != nil || known {
		return err
	}
	about, err := h.far.Describe(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.known, h.about = true, about
	h.mu.Unlock()
	h.logDescription(&about)
	return nil
}

// logDescription logs a node's description and what the node lacks.
func (h *host) logDescription(d *node.Description) {
	if d.Processors < int(h.want.Processors) {
		h.log.Warn("node has fewer processors than configured; tasks get less than their shares", "actual",
			d.Processors, "configured", h.want.Processors)
	}
	if d.Memory > 0 && d.Memory < h.want.Memory {
		h.log.Warn("node has less memory than configured; tasks may be killed", "actual_bytes", d.Memory, "configured",
			h.want.Memory)
	}
	say, by := h.log.Info, make([]string, len(d.Offers))
	for i, o := range d.Offers {
		by[i] = o.Ability + "=" + o.Way
		if o.Way == cgroup.None.String() || o.Way == cgroup.Signals.String() {
			say = h.log.Warn
		}
	}
	say("node described", "limits", strings.Join(by, " "), "version", d.Version, "tasks", d.Tasks)
}

// offers returns how the host limits each resource; nil before its first description.
func (h *host) offers() []node.Offer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.about.Offers
}

// follow implements nodeFollower. A node counts as down before the batch system learns of its loss,
// and until the batch system knows that it is back.
func (k *nodeRunner) follow(ctx context.Context, system *exec.System) {
	k.pool.Follow(func(n int32, up bool) {
		if !up {
			k.turn(n, false)
		}
		if err := system.SetNode(ctx, n, up); err != nil && !errors.Is(err, exec.ErrClosed) && ctx.Err() == nil {
			k.log.Error("node state not reported", "node", n, "up", up, "error", err)
		}
		if up {
			k.turn(n, true)
		}
	})
	k.pool.Asked(ctx) // before any job starts
}

func (k *nodeRunner) turn(n int32, up bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if up {
		delete(k.gone, n)
	} else {
		k.gone[n] = true
	}
}

// away returns the names of the nodes that are down.
func (k *nodeRunner) away() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var names []string
	for i, n := range k.nodes {
		if k.gone[int32(i)] {
			names = append(names, n.Name)
		}
	}
	return names
}

// awayReasons returns the reason for each node that is down, by node name.
func (s *Server) awayReasons() map[string]string {
	k, far := s.runner.(*nodeRunner)
	if !far {
		return nil
	}
	why := make(map[string]string)
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := range k.gone {
		why[k.nodes[n].Name] = cmp.Or(k.pool.Why(n), "it does not answer")
	}
	return why
}

// NodesAway returns the names of the nodes that do not answer.
func (s *Server) NodesAway() []string {
	if k, far := s.runner.(*nodeRunner); far {
		return k.away()
	}
	return nil
}

// awayProblem returns the problem of an estimate that depends on nodes that are down; nil if all
// are up.
func (s *Server) awayProblem() error {
	names := s.NodesAway()
	if len(names) == 0 {
		return nil
	}
	return &problem.Problem{
		Reason: problem.NoEstimate, Message: fmt.Sprintf("the job cannot start until these nodes answer again: %s",
			strings.Join(names, ", ")),
		Hint: "a job submitted to this site waits for them; drover sites shows the others", Retryable: true,
	}
}

// neverStarts reports whether no shape of an estimate can start.
func neverStarts(e *batch.Estimate) bool {
	for _, at := range e.Starts {
		if at != batch.Never {
			return false
		}
	}
	return len(e.Starts) > 0
}

// assumeNodesUp replaces the estimate of a job that waits for nodes by a forecast as if they were
// up, which is good enough to choose a shape.
func assumeNodesUp(e *batch.Estimate, now batch.Time) {
	e.Kind, e.P, e.Ends = batch.Forecast, 0, nil
	for i := range e.Starts {
		e.Starts[i] = now
	}
}
