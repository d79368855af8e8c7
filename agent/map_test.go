package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func lu() *droverv1.MapRequest {
	return &droverv1.MapRequest{Request: &droverv1.Request{Service: "lu"}}
}

// summary writes a decision as one line for each candidate, with what they said as of
// when they said it: how long the decision took after that does not show.
func summary(r *droverv1.DecisionRecord) []string {
	var out []string
	for _, c := range r.GetCandidates() {
		if c.GetMissing() != nil {
			out = append(out, c.GetSite()+" "+strings.ToLower(strings.TrimPrefix(c.GetMissing().GetReason().String(),
				"MISSING_REASON_"))+
				" "+c.GetMissing().GetDetail().GetReason())
			continue
		}
		round := func(d *durationpb.Duration) string { return d.AsDuration().Round(time.Second).String() }
		said := func(d *durationpb.Duration) string {
			return (d.AsDuration() + c.GetStateAge().AsDuration()).Round(time.Second).String()
		}
		out = append(out, c.GetSite()+" wait "+said(c.GetWait())+" transfer "+round(c.GetTransfer())+
			" done "+said(c.GetCompletion())+" margin "+round(c.GetMargin()))
	}
	return out
}

func TestARequestGoesToTheEarliestCompletionAndTheRecordNamesMissingSites(t *testing.T) {
	refusal := &droverv1.ErrorDetail{
		Reason: "too-wide", Field: "request.width", Accepted: "1..4", Message: "8 processors",
	}
	dies := (&fakeServer{name: "dies", services: []string{"lu"}, estimate: answers(quote(0, 1, 1))}).start(t)
	g := newGrid(t, func(c *Config) { c.Patience = 500 * time.Millisecond },
		(&fakeServer{name: "busy", services: []string{"lu"}, estimate: answers(quote(1000, 10, 8))}).start(t),
		(&fakeServer{name: "free", services: []string{"lu", "sleep"}, estimate: answers(quote(100, 50, 2))}).start(t),
		(&fakeServer{name: "hung", services: []string{"lu"}, estimate: hangs}).start(t),
		(&fakeServer{
			name: "narrow", services: []string{"lu"}, estimate: answers(&droverv1.Quote{Refusal: refusal}),
		}).start(t),
		(&fakeServer{name: "other", services: []string{"sleep"}}).start(t),
		(&fakeServer{name: "sick", services: []string{"lu"}, estimate: answers(quote(-5, 10, 1))}).start(t),
		dies,
	)
	dies.stop() // between its description and the question
	res, err := g.client.Map(context.Background(), lu())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"free wait 1m40s transfer 0s done 2m30s margin 0s",
		"busy wait 16m40s transfer 0s done 16m50s margin 14m20s",
		"dies unreachable unreachable",
		"hung timeout timeout",
		"narrow refused too-wide",
		"sick unreachable internal",
	}
	if d := cmp.Diff(want, summary(res.GetDecision())); d != "" {
		t.Error(d)
	}
	first := res.GetTargets()[0]
	if len(res.GetTargets()) != 2 || first.GetSite() != "free" || !strings.HasPrefix(first.GetAddress(),
		"http://127.0.0.1:") {
		t.Errorf("targets: %v", res.GetTargets())
	}
	c := res.GetDecision().GetCandidates()[0]
	if c.GetWidth() != 2 || c.GetKind() != droverv1.EstimateKind_ESTIMATE_KIND_PROMISED ||
		c.GetWalltime().AsDuration() != 100*time.Second {
		t.Errorf("what free said got lost: %v", c)
	}
	if r := res.GetDecision(); r.GetChosen() != "free" || r.GetAgent() != "agent" || r.GetMadeAt() == nil {
		t.Errorf("record: %v", r)
	}
}

func TestWaitCountsFromTheAnswerNotFromTheDecision(t *testing.T) {
	g := newGrid(t, func(c *Config) { c.Patience = 1500 * time.Millisecond },
		(&fakeServer{name: "quick", services: []string{"lu"}, estimate: answers(quote(10, 10, 1))}).start(t),
		(&fakeServer{name: "hung", services: []string{"lu"}, estimate: hangs}).start(t),
	)
	res, err := g.client.Map(context.Background(), lu())
	if err != nil {
		t.Fatal(err)
	}
	c := res.GetDecision().GetCandidates()[0]
	if w, age := c.GetWait().AsDuration(), c.GetStateAge().AsDuration(); w > 9*time.Second || w+age != 10*time.Second {
		t.Errorf("wait %v after %v, want them to add up to 10s", w, age)
	}
}

func TestTransferTimeDelaysTheStartThatServersAreAskedFor(t *testing.T) {
	near := (&fakeServer{name: "near", services: []string{"lu"}, estimate: answers(quote(0, 100, 1))}).start(t)
	far := (&fakeServer{name: "far", services: []string{"lu"}, estimate: answers(quote(0, 60, 1))}).start(t)
	g := newGrid(t, func(c *Config) {
		c.Network = Network{Bandwidth: 1e6, Links: []Link{{To: "far", Bandwidth: 1e5}}}
	}, near, far)
	req := lu()
	req.Request.Arguments = map[string]*droverv1.Value{
		"a": {Kind: &droverv1.Value_FileValue{FileValue: &droverv1.File{SizeBytes: 4e6}}},
		"b": {Kind: &droverv1.Value_FileValue{FileValue: &droverv1.File{SizeBytes: 1e6}}},
		"n": {Kind: &droverv1.Value_IntValue{IntValue: 3}},
	}
	res, err := g.client.Map(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"near wait 5s transfer 5s done 1m45s margin 0s", "far wait 50s transfer 50s done 1m50s margin 5s"}
	if d := cmp.Diff(want, summary(res.GetDecision())); d != "" {
		t.Error(d)
	}
	if d := far.asked[0].GetNotBefore().AsDuration(); d != 50*time.Second {
		t.Errorf("far was asked for a start after %v, want 50s", d)
	}
}

func TestMapRefusesWithCodeAndDetail(t *testing.T) {
	wrong := &droverv1.ErrorDetail{
		Reason: "wrong-type", Field: "request.arguments.n", Accepted: "an int", Message: `"x"`,
	}
	refuses := answers(&droverv1.Quote{Refusal: wrong})
	servers := []*fakeServer{
		(&fakeServer{name: "a", services: []string{"lu", "mixed"}, estimate: refuses}).start(t),
		(&fakeServer{name: "b", services: []string{"lu", "mixed"}, estimate: refuses}).start(t),
		(&fakeServer{name: "c", services: []string{"mixed"}, estimate: hangs}).start(t),
	}
	g := newGrid(t, func(c *Config) { c.Patience = 300 * time.Millisecond }, servers...)
	for _, c := range []struct {
		name   string
		req    *droverv1.MapRequest
		code   connect.Code
		detail *droverv1.ErrorDetail // Message: a part of it
	}{
		{
			"no request", &droverv1.MapRequest{}, connect.CodeInvalidArgument,
			&droverv1.ErrorDetail{Reason: "bad-value", Field: "request", Accepted: "a request"},
		},
		{
			"width", &droverv1.MapRequest{Request: &droverv1.Request{Service: "lu", Width: -1}},
			connect.CodeInvalidArgument,
			&droverv1.ErrorDetail{
				Reason: "out-of-range", Field: "request.width", Accepted: "1..67108864, or none for the site's choice",
			},
		},
		{
			"walltime",
			&droverv1.MapRequest{Request: &droverv1.Request{Service: "lu", Walltime: &durationpb.Duration{}}},
			connect.CodeInvalidArgument,
			&droverv1.ErrorDetail{
				Reason: "out-of-range", Field: "request.walltime",
				Accepted: "1s..87660h0m0s, or none for the site's choice",
			},
		},
		{
			"deadline", &droverv1.MapRequest{
				Request: &droverv1.Request{Service: "lu"}, Deadline: &durationpb.Duration{Seconds: -1},
			}, connect.CodeInvalidArgument,
			&droverv1.ErrorDetail{Reason: "out-of-range", Field: "deadline", Accepted: "above 0s, or none"},
		},
		{
			"unknown service", &droverv1.MapRequest{Request: &droverv1.Request{Service: "ul"}}, connect.CodeNotFound,
			&droverv1.ErrorDetail{
				Reason: "unknown-service", Field: "request.service", Accepted: "one of lu, mixed",
				Hint: "drover services lists the services",
			},
		},
		{
			"refused by all alike", lu(), connect.CodeInvalidArgument,
			&droverv1.ErrorDetail{
				Reason: "wrong-type", Field: "request.arguments.n", Accepted: "an int", Message: "all 2 sites",
			},
		},
		{
			"refused by some", &droverv1.MapRequest{Request: &droverv1.Request{Service: "mixed"}},
			connect.CodeUnavailable,
			&droverv1.ErrorDetail{
				Reason: "no-candidate", Message: "c: no answer in time",
				Hint: "try again; drover sites shows which sites answer", Retryable: true,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := g.client.Map(context.Background(), c.req)
			code, d := detail(t, err)
			if !strings.Contains(d.GetMessage(), c.detail.GetMessage()) {
				t.Errorf("message %q lacks %q", d.GetMessage(), c.detail.GetMessage())
			}
			c.detail.Message = d.GetMessage()
			if code != c.code || d.String() != c.detail.String() {
				t.Errorf("got  %v %v\nwant %v %v", code, d, c.code, c.detail)
			}
		})
	}
}

func TestAnAgentWithoutSitesReportsNoSite(t *testing.T) {
	g := newGrid(t, nil)
	_, err := g.client.Map(context.Background(), lu())
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "no-site" || !d.GetRetryable() ||
		d.GetHint() == "" {
		t.Errorf("%v %v", code, d)
	}
	_, err = g.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: "j"})
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "no-site" {
		t.Errorf("%v %v", code, d)
	}
}

func TestALostSiteIsNotAskedUntilItIsBack(t *testing.T) {
	s := (&fakeServer{name: "lyon", services: []string{"lu"}, estimate: answers(quote(0, 1, 1))}).start(t)
	g := newGrid(t, nil, s)
	lost := s.member(1)
	lost.Lost = true
	g.group.set(lost)
	g.log.await(t, "site stopped answering", 1)
	g.group.set(lost) // received when the first one has been taken in
	_, err := g.client.Map(context.Background(), lu())
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "no-candidate" ||
		!strings.Contains(d.GetMessage(), "lyon") {
		t.Errorf("%v %v", code, d)
	}
	s.failures = 1 // one more than a single attempt would survive
	g.group.set(s.member(2))
	g.log.await(t, "site joined: site=lyon", 2)
	if _, err := g.client.Map(context.Background(), lu()); err != nil {
		t.Error(err)
	}
	g.group.set()
	g.log.await(t, "site left: site=", 1)
	g.group.set()
	if _, err = g.client.Map(context.Background(), lu()); err == nil {
		t.Fatal("mapped to a site that has left")
	}
	if _, d := detail(t, err); d.GetReason() != "no-site" {
		t.Errorf("%v", d)
	}
}

func TestARestartedServerIsDescribedAgain(t *testing.T) {
	s := (&fakeServer{name: "lyon", services: []string{"sleep"}, estimate: answers(quote(0, 1, 1))}).start(t)
	g := newGrid(t, nil, s)
	s.mu.Lock()
	s.services = []string{"lu"}
	s.mu.Unlock()
	g.group.set(s.member(2))
	g.log.await(t, "site joined: site=lyon", 2)
	if _, err := g.client.Map(context.Background(), lu()); err != nil {
		t.Error(err)
	}
}

func TestAServerUnderAnotherNameIsIgnored(t *testing.T) {
	s := (&fakeServer{name: "lyon", services: []string{"lu"}}).start(t)
	g := newGrid(t, nil)
	nancy := gossip.Member{Name: "nancy", Role: gossip.Server, URL: s.url, Generation: 1}
	g.group.set(nancy)
	g.group.set(nancy) // received when the first one has been taken in
	g.log.await(t, "calls itself", 1)
	_, err := g.client.Map(context.Background(), lu())
	if _, d := detail(t, err); d.GetReason() != "no-site" || !strings.Contains(d.GetMessage(), "none is ready") {
		t.Errorf("%v", d)
	}
}

// A site that always says too little, and is known for it.
func TestCalibrateCorrectsEstimatesByTheirRecord(t *testing.T) {
	kept := &droverv1.Accuracy{
		Service: "lu", Jobs: 40, Start: &droverv1.Errors{Median: durationpb.New(10 * time.Minute)}, RunRatio: 0.5,
	}
	for calibrate, want := range map[bool][]string{
		false: {
			"sanguine wait 10s transfer 0s done 1m10s margin 0s", "sober wait 1m0s transfer 0s done 2m0s margin 50s",
		},
		true: {
			"sober wait 1m0s transfer 0s done 2m0s margin 0s",
			"sanguine wait 10m10s transfer 0s done 10m40s margin 8m40s",
		},
	} {
		g := newGrid(t, func(c *Config) { c.Mapping.Calibrate = calibrate },
			(&fakeServer{
				name: "sanguine", services: []string{"lu"}, estimate: answers(quote(10, 60, 1)), kept: kept,
			}).start(t),
			(&fakeServer{name: "sober", services: []string{"lu"}, estimate: answers(quote(60, 60, 1))}).start(t),
		)
		res, err := g.client.Map(context.Background(), lu())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, summary(res.GetDecision())); d != "" {
			t.Errorf("calibrate %v: %s", calibrate, d)
		}
		for _, c := range res.GetDecision().GetCandidates() {
			if corrected := c.GetCorrection().AsDuration(); corrected != 0 != (calibrate && c.GetSite() == "sanguine") {
				t.Errorf("calibrate %v: correction of %v at %s", calibrate, corrected, c.GetSite())
			}
		}
	}
}
