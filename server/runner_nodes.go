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

// distant is the keeper of jobs on other hosts, whole processors or shares of them.
//
//	exec ─▶ distant ─▶ batch/exec/node/pool ─▶ host ─▶ batch/exec/node/remote ─▶ drover node
//	            └─ site.Run: on which nodes, started how often
//
// What decides whether an attempt runs lies on its nodes. Which those are is on record
// before anything is sent, so an attempt without such a record has never been launched.
type nodeRunner struct {
	*sharedRunner
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

// Bar implements runner. What a node has to say Attach asks it.
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

// Age implements runner.
func (k *nodeRunner) Age(key batch.Key) (time.Duration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, known := k.since[key]
	if !known {
		return 0, fmt.Errorf("attempt of %s: nothing is known of its start", key.Job)
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

// poorest returns for each ability the poorest way of a host.
func (k *nodeRunner) poorest() []string {
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

// host is a node of the site that is another host. Whenever it has been silent it is
// asked what it is.
type host struct {
	pool.Node
	far  *remote.Node
	want batch.Node // as the configuration has it
	log  hclog.Logger

	mu    sync.Mutex
	known bool // since it was silent last
	about node.Description
}

// Renew implements pool.Node. The pool renews one after the other.
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
	h.tell(&about)
	return nil
}

// tell says what a node is, and what it lacks.
func (h *host) tell(d *node.Description) {
	if d.Processors < int(h.want.Processors) {
		h.log.Warn("the node has fewer processors than the configuration says: tasks get less than their shares", "has", d.Processors, "configured", h.want.Processors)
	}
	if d.Memory > 0 && d.Memory < h.want.Memory {
		h.log.Warn("the node has less memory than the configuration says: tasks may be killed for want of it", "has", d.Memory, "configured", h.want.Memory)
	}
	say, by := h.log.Info, make([]string, len(d.Offers))
	for i, o := range d.Offers {
		by[i] = o.Ability + "=" + o.Way
		if o.Way == cgroup.None.String() || o.Way == cgroup.Signals.String() {
			say = h.log.Warn
		}
	}
	say("what holds tasks to what they get there", "by", strings.Join(by, " "), "version", d.Version, "tasks", d.Tasks)
}

// offers returns how it does each thing; nothing while it was never there.
func (h *host) offers() []node.Offer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.about.Offers
}

// follow implements nodeFollower. Nodes are away before the batch system hears of it, until it has
// heard that they are there.
func (k *nodeRunner) follow(ctx context.Context, system *exec.System) {
	k.pool.Follow(func(n int32, up bool) {
		if !up {
			k.turn(n, false)
		}
		if err := system.SetNode(ctx, n, up); err != nil && !errors.Is(err, exec.ErrClosed) && ctx.Err() == nil {
			k.log.Error("news of a node", "node", n, "up", up, "error", err)
		}
		if up {
			k.turn(n, true)
		}
	})
	k.pool.Asked(ctx) // before anything is started
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

// away names the nodes that are not there.
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

// awayReasons returns why each of the nodes is not there that are not, by their names.
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

// NodesAway names the nodes that do not answer.
func (s *Server) NodesAway() []string {
	if k, far := s.runner.(*nodeRunner); far {
		return k.away()
	}
	return nil
}

// awayProblem says why nobody can tell when something could start that the nodes which
// are there cannot run; nil if all are there.
func (s *Server) awayProblem() error {
	names := s.NodesAway()
	if len(names) == 0 {
		return nil
	}
	return &problem.Problem{
		Reason: problem.NoEstimate, Message: fmt.Sprintf("it cannot start before nodes are there again that do not answer now: %s", strings.Join(names, ", ")),
		Hint: "submitted to this site it waits for them; drover sites shows the others", Retryable: true,
	}
}

// neverStarts says whether nothing could ever start, as things stand.
func neverStarts(e *batch.Estimate) bool {
	for _, at := range e.Starts {
		if at != batch.Never {
			return false
		}
	}
	return len(e.Starts) > 0
}

// guess says something of what waits for nodes, good for choosing a shape: as if they
// were there.
func assumeNodesUp(e *batch.Estimate, now batch.Time) {
	e.Kind, e.P, e.Ends = batch.Forecast, 0, nil
	for i := range e.Starts {
		e.Starts[i] = now
	}
}
