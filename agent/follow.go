package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
)

// describing is how far the agent is with one server of the group.
type describing struct {
	generation uint64
	lost       bool
	cancel     context.CancelFunc // of the attempts to describe it
}

// follow keeps the view in step with the group until ctx ends.
func (a *Agent) follow(ctx context.Context) {
	servers := make(map[string]describing)
	for {
		a.update(ctx, servers)
		select {
		case <-a.group.Changed():
		case <-ctx.Done():
			return
		}
	}
}

// update compares the group with what was known of it: a server that is new,
// came back or was started anew is asked to describe itself.
func (a *Agent) update(ctx context.Context, servers map[string]describing) {
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
		now := describing{generation: m.Generation, lost: m.Lost, cancel: func() {}}
		if m.Lost {
			a.log.Warn("site has fallen silent", "site", m.Name)
			a.setLost(m.Name)
		} else {
			var attempts context.Context
			attempts, now.cancel = context.WithCancel(ctx)
			a.following.Go(func() { a.attend(attempts, m) })
		}
		servers[m.Name] = now
	}
	for name, s := range servers {
		if !there[name] {
			a.log.Info("site has left", "site", name)
			s.cancel()
			delete(servers, name)
			a.forget(name)
		}
	}
	a.mu.Lock()
	a.joined = len(servers)
	a.mu.Unlock()
}

// pauses returns the pauses between attempts to reach a server.
func pauses() *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = 100 * time.Millisecond
	pause.MaxInterval = 10 * time.Second
	return pause
}

// describe asks a server what it is, again and again until it answers or ctx
// ends, and puts it into the view. It returns nil when ctx has ended.
func (a *Agent) describe(ctx context.Context, m gossip.Member) *peer {
	p := newPeer(a.caller, m.URL)
	attempt := func() (load mapping.Load, err error) {
		ctx, cancel := context.WithTimeout(ctx, a.cfg.Patience)
		defer cancel()
		name, err := p.describe(ctx)
		if err == nil && name != m.Name {
			err = fmt.Errorf("the server at %s calls itself %q", m.URL, name)
		}
		if err == nil { // whether it drains has to be known before it is asked for estimates
			load, err = p.status(ctx)
		}
		return load, err
	}
	load, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(pauses()), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, next time.Duration) {
			a.log.Warn("site does not describe itself", "site", m.Name, "url", m.URL, "error", err, "again_in", next)
		}))
	if err != nil {
		return nil // only because ctx ended
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return nil // overtaken by later news
	}
	services := p.services()
	a.view.Put(mapping.Site{Name: m.Name, Address: m.URL, Services: services, Heard: a.now(), Load: load})
	a.peers[m.Name] = p
	delete(a.left, m.Name)
	a.log.Info("site is known", "site", m.Name, "url", m.URL, "services", len(services))
	return p
}

// setLost notes that a server fell silent.
func (a *Agent) setLost(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.SetLost(name, true)
}

// forget drops a site that has left. One that left jobs behind stays in the
// lists as one that is silent: it may be back soon, and the jobs are its own.
func (a *Agent) forget(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.jobs.Active(name); n > 0 {
		a.log.Warn("the site that left has jobs", "site", name, "jobs", n)
		a.view.SetLost(name, true)
		return
	}
	a.jobs.Forget(name)
	a.drain.Stop(name)
	a.view.Remove(name)
	delete(a.peers, name)
	a.left[name] = a.now()
}

// leftFor is how long a site that has left may be the one that has a job which
// nobody else knows: it was stopped to be started again.
const leftFor = batch.Hour

// lately returns the sites that have left a while ago, by name.
func (a *Agent) lately() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.left, func(_ string, at batch.Time) bool { return a.now().Sub(at) > leftFor })
	return slices.Sorted(maps.Keys(a.left))
}
