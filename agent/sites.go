package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
)

// following is what the agent does for one server of the group.
type following struct {
	generation uint64
	lost       bool
	cancel     context.CancelFunc // ends attend
}

// follow keeps the view in step with the group until ctx ends.
func (a *Agent) follow(ctx context.Context) {
	servers := make(map[string]following)
	for {
		a.update(ctx, servers)
		select {
		case <-a.group.Changed():
		case <-ctx.Done():
			return
		}
	}
}

// update compares the group with its last state. It starts to attend servers that are
// new, came back or were restarted.
func (a *Agent) update(ctx context.Context, servers map[string]following) {
	there := make(map[string]bool)
	for _, m := range a.group.Members() {
		if m.Role != gossip.Server {
			continue
		}
		there[m.Name] = true
		was, known := servers[m.Name]
		if known && was.generation == m.Generation && was.lost == m.Lost {
			continue
		}
		if known {
			was.cancel()
		}
		now := following{generation: m.Generation, lost: m.Lost, cancel: func() {}}
		if m.Lost {
			if known {
				a.log.Warn("site stopped answering", "site", m.Name)
			} else {
				a.log.Info("site has not answered yet", "site", m.Name, "url", m.URL)
			}
			a.setLost(m)
		} else {
			var attended context.Context
			attended, now.cancel = context.WithCancel(ctx)
			a.tasks.Go(func() { a.attend(attended, m) })
		}
		servers[m.Name] = now
	}
	for name, s := range servers {
		if !there[name] {
			a.log.Info("site left", "site", name)
			s.cancel()
			delete(servers, name)
			a.forget(name)
		}
	}
	a.mu.Lock()
	a.joined = len(servers)
	a.mu.Unlock()
}

// retries returns the pauses between attempts to reach a server.
func retries() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = 100 * time.Millisecond
	b.MaxInterval = 10 * time.Second
	return b
}

// attend describes a server, then keeps its queue and its jobs up to date until ctx
// ends: when the server is lost, has left or was restarted.
func (a *Agent) attend(ctx context.Context, m gossip.Member) {
	p := a.describe(ctx, m)
	if p == nil {
		return
	}
	a.wakeDrain()
	a.tasks.Go(func() { a.poll(ctx, m.Name, p) })
	a.watch(ctx, m.Name, p)
}

// describe asks a server what it is until it answers or ctx ends, and puts it into
// the view. It returns nil when ctx has ended.
func (a *Agent) describe(ctx context.Context, m gossip.Member) *rpc.Peer {
	p := a.servers.Peer(m.URL)
	attempt := func() (rpc.Status, error) {
		ctx, cancel := context.WithTimeout(ctx, a.cfg.Patience)
		defer cancel()
		name, err := p.Describe(ctx)
		if err == nil && name != m.Name {
			err = fmt.Errorf("the server at %s calls itself %q", m.URL, name)
		}
		if err != nil {
			return rpc.Status{}, err
		}
		return p.Status(ctx, false) // a draining site must not be asked for estimates
	}
	status, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(retries()), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, next time.Duration) {
			a.log.Warn("describe failed", "site", m.Name, "url", m.URL, "error", err, "retry_in", next)
		}))
	if err != nil {
		return nil // ctx has ended
	}
	// A server that says that it does not know a job has told before where else the job can be.
	a.group.Learn(p.Known())
	a.mu.Lock()
	defer a.mu.Unlock()
	members := a.group.Members() // under the lock: one that leaves now is dropped afterwards
	if ctx.Err() != nil {
		return nil // later news of the server have arrived
	}
	for _, other := range members {
		if other.Role == gossip.Server {
			a.suppose(other.Name, other.URL)
		}
	}
	var services []string
	for _, s := range p.Services() {
		services = append(services, s.Name())
	}
	a.view.Put(mapping.Site{Name: m.Name, Address: m.URL, Services: services, Heard: a.now(), Load: status.Load()})
	a.peers[m.Name] = p
	a.log.Info("site joined", "site", m.Name, "url", m.URL, "services", len(services))
	return p
}

// poll asks a server for its queue at each tick of the configured period.
func (a *Agent) poll(ctx context.Context, site string, p *rpc.Peer) {
	tick := time.NewTicker(a.cfg.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		call, cancel := context.WithTimeout(ctx, a.cfg.Patience)
		status, err := p.Status(call, false)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.log.Debug("status failed", "site", site, "error", err)
		default:
			a.setLoad(site, status.Load())
		}
	}
}

// watch receives what becomes of a server's jobs, and reconnects after each break.
func (a *Agent) watch(ctx context.Context, site string, p *rpc.Peer) {
	retry := retries()
	for {
		err := p.WatchJobs(ctx, func(begin, synced bool, jobs []mapping.Digest) {
			retry.Reset()
			a.remember(ctx, site, begin, synced, jobs)
		})
		if ctx.Err() != nil {
			return
		}
		next := retry.NextBackOff()
		a.log.Debug("job watch failed", "site", site, "error", err, "retry_in", next)
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// batchSize is how many jobs are remembered in one go, under the agent's lock.
const batchSize = 1000

// remember takes in jobs of a site's watch.
func (a *Agent) remember(ctx context.Context, site string, begin, synced bool, jobs []mapping.Digest) {
	over := 0
	for {
		some := jobs[:min(len(jobs), batchSize)]
		jobs = jobs[len(some):]
		last := len(jobs) == 0
		over += a.rememberSome(ctx, site, begin, synced && last, some)
		if begin = false; last {
			break
		}
	}
	if over > 0 {
		a.log.Warn("memory for jobs is full", "site", site, "forgotten", over, "limit", a.cfg.Remember)
	}
}

// rememberSome returns how many of the jobs did not fit into memory.
func (a *Agent) rememberSome(ctx context.Context, site string, begin, synced bool, jobs []mapping.Digest) (over int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return 0 // the watch of a later life of the server has begun
	}
	now := a.now()
	if begin {
		a.jobs.Begin(site)
	}
	for _, d := range jobs {
		if !a.jobs.Put(now, site, d) {
			over++
		}
	}
	if synced {
		a.jobs.Synced(site)
		a.log.Debug("jobs synced", "site", site, "active", a.jobs.Active(site))
	}
	a.view.SetHeard(now, site)
	if s := a.view.Get(site); s != nil && s.Load.Empties() {
		a.wakeDrain()
	}
	return over
}

// setLoad notes a site's queue.
func (a *Agent) setLoad(site string, load mapping.Load) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.view.Get(site)
	if s == nil {
		return
	}
	if s.Load.Draining != load.Draining {
		a.log.Info("draining changed", "site", site, "draining", load.Draining)
		a.wakeDrain()
	}
	if !slices.Equal(s.Load.Withdrawn, load.Withdrawn) {
		a.log.Warn("withdrawn services changed", "site", site, "services", fmt.Sprintf("%+v", load.Withdrawn))
		a.wakeDrain()
	}
	a.view.SetLoad(a.now(), site, load)
}

// setLost notes that a server stopped answering. The agent may have learned of it from others.
func (a *Agent) setLost(m gossip.Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.suppose(m.Name, m.URL)
	a.view.SetLost(m.Name, true)
}

// suppose adds a site that has not answered this agent yet, as lost. a.mu is held.
func (a *Agent) suppose(name, url string) {
	if a.view.Get(name) == nil {
		a.view.Put(mapping.Site{Name: name, Address: url, Heard: a.now(), Lost: true})
		a.peers[name] = a.servers.Peer(url)
	}
}

// forget drops a site that has left. A site that left jobs behind stays in the lists
// as lost: it can come back soon, and only it knows what its jobs do.
func (a *Agent) forget(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.jobs.Active(name); n > 0 && !a.group.Forgotten(name) {
		a.log.Warn("site left jobs behind", "site", name, "jobs", n)
		a.view.SetLost(name, true)
		return
	}
	a.drop(name)
}

// drop removes everything about a site. a.mu is held.
func (a *Agent) drop(name string) {
	a.jobs.Forget(name)
	a.drain.Stop(name)
	a.view.Remove(name)
	delete(a.peers, name)
}

// leftFor is how long after it left a site can still have a job that no other site
// knows: it was stopped to be started again.
const leftFor = 30 * 24 * time.Hour
