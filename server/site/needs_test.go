package site

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

const farmServices = `
version: 1
services:
  - name: cad
    doc: Needs a license, and was measured on a machine of score 300.
    command: [cad]
    licenses: [cad, {name: mesh, copies: 2}]
    score: 300
    walltime: {factor: 1}
    model: {table: {1: 100s, 2: 60s, 4: 40s}}
  - name: saves
    doc: Writes down how far it is.
    command: [saves]
    checkpoint: {signal: USR1}
    walltime: {factor: 1}
    model: {fixed: {width: 1, time: 30s}}
`

// farmSite is a site of different machines; only the first one can run all services.
func farmSite(t *testing.T) *Site {
	t.Helper()
	p := batch.Platform{
		Nodes: []batch.Node{
			{Name: "fast", Processors: 2, Score: 600, Licenses: []string{"cad", "render"}},
			{Name: "slow", Processors: 4, Score: 150},
		},
		Licenses: []batch.LicensePool{{Name: "cad", Copies: 3}, {Name: "mesh", Copies: 2}},
	}
	edge, err := policy.NewEdge("convergent", p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{
		Name: "farm", Platform: p, Catalogue: newSite(t, farmServices, 1, 0).config.Catalogue, Edge: edge,
		PausedKeepMemory: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A job with licenses gets the widths of the machine that can run it. Its walltimes are for the
// slowest machine: the model's score is 300, that machine's 150, so they are twice as long.
func TestAServicesNeedsReachTheBatchSystem(t *testing.T) {
	s := farmSite(t)
	planner := &rectangles{processors: 6}
	r := &Request{
		Service: "cad", Licenses: []batch.License{{Name: "cad", Copies: 3}, {Name: "render", Copies: 1}},
		Deadline: batch.Time(seconds(500)),
	}
	j, err := s.Submit(0, Submission{ID: "0", Request: r}, planner)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{1, 2}, planner.asked); diff != "" {
		t.Errorf("widths: %s", diff)
	}
	spec := j.Spec()
	want := []batch.License{{Name: "cad", Copies: 3}, {Name: "mesh", Copies: 2}, {Name: "render", Copies: 1}}
	if diff := cmp.Diff(want, spec.Licenses); diff != "" {
		t.Errorf("licenses: %s", diff)
	}
	if spec.Shape.Walltime != seconds(120) || spec.Reference != 150 || !spec.Resident ||
		spec.Deadline != batch.Time(seconds(500)) {
		t.Errorf("%+v", spec)
	}
	if len(r.Licenses) != 2 || r.Licenses[0].Copies != 3 || s.config.Catalogue.Services()[0].Licenses[0].Copies != 1 {
		t.Error("the request or the catalogue changed")
	}
}

func TestWalltimeOfARequestIsNotScaled(t *testing.T) {
	s := farmSite(t)
	j, err := s.Submit(0, Submission{ID: "0", Request: &Request{Service: "cad", Width: 1, Walltime: seconds(110)}},
		&rectangles{processors: 6})
	if err != nil {
		t.Fatal(err)
	}
	if spec := j.Spec(); spec.Shape.Walltime != seconds(110) || spec.Reference != 0 {
		t.Errorf("%+v", spec)
	}
}

func TestAJobWithCheckpointsCanContinueElsewhere(t *testing.T) {
	s := farmSite(t)
	j, err := s.Submit(0, Submission{ID: "0", Request: &Request{Service: "saves"}}, &rectangles{processors: 6})
	if err != nil {
		t.Fatal(err)
	}
	if j.Spec().Resident {
		t.Error("the job is bound to its node")
	}
}

func TestNeedsThatNoNodeMeetsAreRefused(t *testing.T) {
	license := func(name string, copies int32) []batch.License { return []batch.License{{Name: name, Copies: copies}} }
	farm, plain := farmSite(t), newSite(t, farmServices, 4, 0)
	plain.config.Edge, _ = policy.NewEdge("cbf", plain.config.Platform)
	for name, c := range map[string]struct {
		s        *Site
		r        Request
		reason   problem.Reason
		field    string
		accepted string
	}{
		"an unknown license": {
			farm,
			Request{Service: "saves", Licenses: license("matlab", 1)},
			problem.NoLicense, "request.licenses",
			"none of it here",
		},
		"more copies than there are": {
			farm,
			Request{Service: "saves", Licenses: license("mesh", 3)},
			problem.NoLicense, "request.licenses",
			"up to 2 copies",
		},
		"a width with a license elsewhere": {
			farm,
			Request{Service: "cad", Width: 4},
			problem.CannotRun, "request",
			"less, none of this farm has them together",
		},
		"a width of no machine": {
			farm,
			Request{Menu: menu(5, 60), Service: "saves"},
			problem.TooWide, "request.width",
			"up to 4, the processors of the largest node",
		},
		"a license where none are counted": {
			plain,
			Request{Service: "saves", Licenses: license("cad", 1)},
			problem.NoLicense, "request.licenses",
			"none, this site counts no licenses",
		},
		"a service whose license is not here": {
			plain, Request{Service: "cad"}, problem.NoLicense, "request.licenses", "none, this site counts no licenses",
		},
		"a deadline that is over": {
			farm, Request{Service: "saves", Deadline: 1}, problem.TooLate, "request.deadline", "at least 31s from now",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.r.Validate(); err != nil {
				t.Fatal(err)
			}
			now := batch.Time(seconds(100))
			_, err := c.s.Submit(now, Submission{ID: "0", Request: &c.r}, &rectangles{processors: 6})
			refused(t, err, c.reason, c.field)
			if r := new(problem.Problem); errors.As(err, &r) && r.Accepted != c.accepted {
				t.Errorf("accepted: %s, want %s", r.Accepted, c.accepted)
			}
			out := make([]Answer, 1)
			c.s.Quotes(now, []Question{{Request: &c.r}}, out, &rectangles{processors: 6})
			refused(t, out[0].Err, c.reason, c.field)
		})
	}
}

// The job was accepted with two copies of its license. The site then restarts with one copy.
func TestJobWithARemovedLicenseIsUnrunnable(t *testing.T) {
	s := farmSite(t)
	if _, err := s.Submit(0, Submission{ID: "0", Request: &Request{Service: "cad"}},
		&rectangles{processors: 6}); err != nil {
		t.Fatal(err)
	}
	if _, n := s.Unrunnable(1); n != 0 {
		t.Fatal("a runnable job is reported as unrunnable")
	}
	p := s.config.Platform
	p.Licenses = []batch.LicensePool{{Name: "cad", Copies: 3}, {Name: "mesh", Copies: 1}}
	s.config.Edge, _ = policy.NewEdge("convergent", p)
	list, n := s.Unrunnable(1)
	if n != 1 || list[0].Why != "2 of license mesh, accepted: up to 1 copies" {
		t.Errorf("%d: %+v", n, list)
	}
}
