package agent

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
)

// attend describes a server, then keeps what is known of its queue and its jobs
// up to date until ctx ends: when it is lost, has left or was started anew.
func (a *Agent) attend(ctx context.Context, m gossip.Member) {
	p := a.describe(ctx, m)
	if p == nil {
		return
	}
	a.wakeDrain()
	a.following.Go(func() { a.poll(ctx, m.Name, p) })
	a.watch(ctx, m.Name, p)
}

// poll asks a server for its queue again and again.
func (a *Agent) poll(ctx context.Context, site string, p *peer) {
	tick := time.NewTicker(a.cfg.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked, cancel := context.WithTimeout(ctx, a.cfg.Patience)
		load, err := p.status(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.log.Debug("no status", "site", site, "error", err)
		default:
			a.heard(site, load)
		}
	}
}

// watch has a server tell what becomes of its jobs, again after every break.
func (a *Agent) watch(ctx context.Context, site string, p *peer) {
	pause := pauses()
	for {
		err := p.watchJobs(ctx, func(begin, synced bool, jobs []mapping.Digest) {
			pause.Reset()
			a.remember(ctx, site, begin, synced, jobs)
		})
		if ctx.Err() != nil {
			return
		}
		next := pause.NextBackOff()
		a.log.Debug("jobs are not told", "site", site, "error", err, "again_in", next)
		again := time.NewTimer(next)
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
	}
}

// atATime is how many jobs are taken in before others get a turn: a site may
// tell very many at once.
const atATime = 1000

// remember takes in what a site tells about its jobs.
func (a *Agent) remember(ctx context.Context, site string, begin, synced bool, jobs []mapping.Digest) {
	over := 0
	for {
		some := jobs[:min(len(jobs), atATime)]
		jobs = jobs[len(some):]
		last := len(jobs) == 0
		over += a.rememberSome(ctx, site, begin, synced && last, some)
		if begin = false; last {
			break
		}
	}
	if over > 0 {
		a.log.Warn("more jobs than are remembered", "site", site, "over", over, "limit", a.cfg.Remember)
	}
}

// rememberSome returns how many jobs there was no room for.
func (a *Agent) rememberSome(ctx context.Context, site string, begin, synced bool, jobs []mapping.Digest) (over int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return 0 // a later life of the site tells its own
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
		a.log.Debug("jobs are known", "site", site, "active", a.jobs.Active(site))
	}
	a.view.SetHeard(now, site)
	if s := a.view.Get(site); s != nil && s.Load.Draining {
		a.wakeDrain()
	}
	return over
}

// heard notes a site's queue.
func (a *Agent) heard(site string, load mapping.Load) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.view.Get(site)
	if s == nil {
		return
	}
	if s.Load.Draining != load.Draining {
		a.log.Info("site drains", "site", site, "draining", load.Draining)
		a.wakeDrain()
	}
	a.view.SetLoad(a.now(), site, load)
}
