package agent

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// ListSites lists the sites that the agent knows.
func (f face) ListSites(ctx context.Context, req *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	want, err := parseFilter(req.GetFilter(), "name", "service", "policy")
	if err != nil {
		return nil, err
	}
	a := f.a
	sites, peers := a.known()
	byName := make(map[string]*peer)
	for i, p := range peers {
		byName[sites[i].Name] = p
	}
	sites = slices.DeleteFunc(sites, func(s *mapping.Site) bool {
		service, asked := want["service"]
		return !want.allows("name", s.Name) || asked && !s.Offers(service) ||
			!want.allows("policy", byName[s.Name].about.GetSite().GetPolicy())
	})
	sites, next, err := page(sites, func(s *mapping.Site) string { return s.Name }, req.GetPageSize(), req.GetPageToken())
	if err != nil {
		return nil, err
	}
	peers = peers[:0]
	for _, s := range sites {
		peers = append(peers, byName[s.Name])
	}
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, s *mapping.Site, p *peer) result[*droverv1.SiteStatus] {
		res, err := p.client.GetStatus(ctx, &droverv1.GetStatusRequest{Accuracy: req.GetAccuracy()})
		if err != nil {
			return failed[*droverv1.SiteStatus](ctx, err)
		}
		a.heard(s.Name, loadIn(res.GetStatus()))
		return result[*droverv1.SiteStatus]{value: res.GetStatus()}
	})
	out := &droverv1.ListSitesResponse{NextPageToken: next}
	for i, s := range sites {
		heard := max(a.now().Sub(s.Heard), 0)
		if results[i].missing == mapping.Answered {
			heard = 0
		}
		site := proto.CloneOf(peers[i].about.GetSite())
		site.Address = s.Address
		out.Sites = append(out.Sites, &droverv1.KnownSite{
			Site: site, Status: results[i].value, HeardAgo: durationOut(heard),
			Missing: missingMessage(results[i].missing, results[i].problem),
		})
	}
	return out, nil
}

// ListServices lists the services of all sites that can be asked.
func (f face) ListServices(_ context.Context, req *droverv1.ListServicesRequest) (*droverv1.ListServicesResponse, error) {
	want, err := parseFilter(req.GetFilter(), "name", "site")
	if err != nil {
		return nil, err
	}
	sites, peers := f.a.known()
	byName := make(map[string]*droverv1.OfferedService)
	var all []*droverv1.OfferedService
	for i, s := range sites {
		if s.Lost || !want.allows("site", s.Name) {
			continue
		}
		for _, service := range peers[i].about.GetServices() {
			if !want.allows("name", service.GetName()) {
				continue
			}
			o := byName[service.GetName()]
			if o == nil {
				o = &droverv1.OfferedService{Service: service}
				byName[service.GetName()] = o
				all = append(all, o)
			}
			o.Sites = append(o.Sites, s.Name)
		}
	}
	name := func(o *droverv1.OfferedService) string { return o.GetService().GetName() }
	slices.SortFunc(all, func(a, b *droverv1.OfferedService) int { return strings.Compare(name(a), name(b)) })
	all, next, err := page(all, name, req.GetPageSize(), req.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &droverv1.ListServicesResponse{Services: all, NextPageToken: next}, nil
}
