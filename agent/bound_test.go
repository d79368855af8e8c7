package agent

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestARequestForOneSiteAsksOnlyThatSite(t *testing.T) {
	asked := make(chan string, 10)
	site := func(name string, services ...string) *fakeServer {
		return &fakeServer{
			name: name, services: services,
			estimate: func(context.Context, *droverv1.EstimateRequest) (*droverv1.Quote, error) {
				asked <- name
				return quote(100, 10, 1), nil
			},
		}
	}
	g := newGrid(t, nil, site("far", "lu").start(t), site("near", "lu").start(t), site("other", "sleep").start(t))
	r := lu()
	r.Request.Site = "near"
	res, err := g.client.Map(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(res.GetDecision()); len(got) != 1 || len(res.GetTargets()) != 1 ||
		res.GetTargets()[0].GetSite() != "near" {
		t.Errorf("targets %v, record %v", res.GetTargets(), got)
	}
	close(asked)
	var names []string
	for name := range asked {
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"near"}, names); diff != "" {
		t.Errorf("sites that were asked: %s", diff)
	}
	for name, want := range map[string][2]string{
		"nowhere": {"unknown-site", "request.site"},
		"other":   {"unknown-service", "request.service"},
	} {
		r.Request.Site = name
		_, err := g.client.Map(t.Context(), r)
		if _, d := detail(t, err); d.GetReason() != want[0] || d.GetField() != want[1] || d.GetAccepted() == "" {
			t.Errorf("%s: %v", name, d)
		}
	}
}
