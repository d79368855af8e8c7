package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// siteNamed returns the site of a name that a caller has given.
func (a *Agent) siteNamed(name string) (*mapping.Site, *rpc.Peer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.view.Get(name); s != nil {
		return s, a.peers[name], nil
	}
	sites := a.view.Sites(nil)
	if len(sites) == 0 {
		return nil, nil, noSites(a.joined)
	}
	return nil, nil, unknownSite("site", name, sites)
}

// ListSites lists the sites that the agent knows, by name.
func (a *Agent) ListSites(
	ctx context.Context, text string, size int, from string, accuracy bool,
) ([]rpc.Site, string, error) {
	want, err := parseFilter(text, "name", "service", "policy")
	if err != nil {
		return nil, "", err
	}
	sites, peers := a.known()
	byName := make(map[string]*rpc.Peer)
	for i, p := range peers {
		byName[sites[i].Name] = p
	}
	sites = slices.DeleteFunc(sites, func(s *mapping.Site) bool {
		service, asked := want["service"]
		return !want.allows("name", s.Name) || asked && !s.Offers(service) ||
			!want.allows("policy", byName[s.Name].Policy())
	})
	sites, next := page(sites, func(s *mapping.Site) string { return s.Name }, size, from)
	peers = peers[:0]
	for _, s := range sites {
		peers = append(peers, byName[s.Name])
	}
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, func(
		ctx context.Context, s *mapping.Site, p *rpc.Peer,
	) (rpc.Status, error) {
		status, err := p.Status(ctx, accuracy)
		if err == nil {
			a.setLoad(s.Name, status.Load())
		}
		return status, err
	})
	var out []rpc.Site
	for i, s := range sites {
		site := rpc.Site{Site: s, Peer: peers[i], Status: results[i].value, Absent: results[i].absent(s.Name)}
		if !results[i].answered() {
			site.HeardAgo = max(a.now().Sub(s.Heard), 0)
		}
		out = append(out, site)
	}
	return out, next, nil
}

// GetSite returns one site.
func (a *Agent) GetSite(ctx context.Context, name string) (*rpc.Site, error) {
	s, p, err := a.siteNamed(name)
	if err != nil {
		return nil, err
	}
	r := askFor(ctx, a.patienceFor(ctx, 0), s, p, p.Site)
	out := &rpc.Site{Site: s, Peer: p, Absent: r.absent(name)}
	if !r.answered() {
		out.HeardAgo = max(a.now().Sub(s.Heard), 0)
		return out, nil
	}
	out.Status, out.Details = r.value.Status, &r.value
	a.setLoad(name, out.Status.Load())
	return out, nil
}

// ListServices lists the services of all sites that answer, by name.
func (a *Agent) ListServices(text string, size int, from string) ([]rpc.OfferedService, string, error) {
	want, err := parseFilter(text, "name", "site")
	if err != nil {
		return nil, "", err
	}
	sites, peers := a.known()
	index := make(map[string]int)
	var all []rpc.OfferedService
	for i, s := range sites {
		if s.Lost || !want.allows("site", s.Name) {
			continue
		}
		for _, service := range peers[i].Services() {
			name := service.Name()
			if !want.allows("name", name) {
				continue
			}
			at, there := index[name]
			if !there {
				at = len(all)
				index[name] = at
				all = append(all, rpc.OfferedService{Service: service})
			}
			w := s.Load.Withdrawal(name)
			switch {
			case w == nil:
				all[at].Sites = append(all[at].Sites, s.Name)
			case all[at].Withdrawn == nil:
				all[at].Withdrawn = map[string]string{s.Name: w.Reason}
			default:
				all[at].Withdrawn[s.Name] = w.Reason
			}
		}
	}
	slices.SortFunc(all, func(a, b rpc.OfferedService) int { return strings.Compare(a.Name(), b.Name()) })
	all, next := page(all, func(s rpc.OfferedService) string { return s.Name() }, size, from)
	return all, next, nil
}

// ForgetSite drops a site that does not answer and never comes back.
func (a *Agent) ForgetSite(name string) error {
	if a.group.Forget(name) {
		a.log.Warn("site forgotten", "site", name)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.drop(name)
		return nil
	}
	if _, _, err := a.siteNamed(name); err != nil {
		return err
	}
	return &problem.Problem{
		Reason: problem.SiteAnswers, Field: "site", Message: "site " + name + " answers",
		Accepted: "a site that does not answer",
		Hint:     "stop its server first",
	}
}

// SetDraining starts or stops draining a site.
func (a *Agent) SetDraining(ctx context.Context, site string, draining bool) (rpc.Status, error) {
	s, p, err := a.siteNamed(site)
	if err != nil {
		return rpc.Status{}, err
	}
	status, err := askOne(ctx, a, s, p, func(ctx context.Context) (rpc.Status, error) {
		return p.SetDraining(ctx, draining)
	})
	if err == nil {
		a.setLoad(s.Name, status.Load())
	}
	return status, err
}

// SettleJob passes an operator's settlement on to a site.
func (a *Agent) SettleJob(ctx context.Context, site string, settle rpc.Settlement) (rpc.Job, error) {
	s, p, err := a.siteNamed(site)
	if err != nil {
		return rpc.Job{}, err
	}
	if settle.JobID() == "" {
		return rpc.Job{}, &problem.Problem{
			Reason: problem.BadValue, Field: "settle.job_id", Message: "empty", Accepted: "the ID of a job",
		}
	}
	job, err := askOne(ctx, a, s, p, func(ctx context.Context) (rpc.Job, error) { return p.Settle(ctx, settle) })
	if err == nil {
		a.log.Warn("move settled by hand", append(settle.LogFields(), "site", s.Name)...)
	}
	return job, err
}
