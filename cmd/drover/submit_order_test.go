package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// takingGrid is an agent and the server of its only site. It accepts a request if all jobs on
// which the request depends exist.
type takingGrid struct {
	droverv1connect.UnimplementedAgentServiceHandler
	url string

	mu    sync.Mutex
	taken []*droverv1.SubmitRequest // in their order
	known map[string]bool
}

type takingServer struct {
	droverv1connect.UnimplementedServerServiceHandler
	*takingGrid
}

func newTakingGrid(t *testing.T) *takingGrid {
	t.Helper()
	g := &takingGrid{known: make(map[string]bool)}
	mux := http.NewServeMux()
	mux.Handle(droverv1connect.NewAgentServiceHandler(g))
	mux.Handle(droverv1connect.NewServerServiceHandler(takingServer{takingGrid: g}))
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: mux, Protocols: &protocols}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.url = "http://" + l.Addr().String()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return g
}

func (g *takingGrid) Map(context.Context, *droverv1.MapRequest) (*droverv1.MapResponse, error) {
	return &droverv1.MapResponse{Targets: []*droverv1.Target{{Site: "lyon", Address: g.url}}}, nil
}

func (g *takingGrid) ListServices(
	context.Context, *droverv1.ListServicesRequest,
) (*droverv1.ListServicesResponse, error) {
	return &droverv1.ListServicesResponse{Services: []*droverv1.OfferedService{
		{Service: &droverv1.Service{Name: "s"}},
	}}, nil
}

// Submit refuses the owner nobody and unknown dependencies.
func (g takingServer) Submit(_ context.Context, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if req.GetRequest().GetOwner() == "nobody" {
		return nil, refuse(connect.CodeInvalidArgument, &droverv1.ErrorDetail{
			Reason: "bad-value", Message: "nobody may not",
		})
	}
	for _, d := range req.GetRequest().GetAfter() {
		if !g.known[d.GetJobId()] {
			return nil, refuse(connect.CodeNotFound, &droverv1.ErrorDetail{
				Reason: "unknown-job", Message: "no job " + d.GetJobId(),
			})
		}
	}
	g.known[req.GetJobId()] = true
	g.taken = append(g.taken, req)
	return &droverv1.SubmitResponse{Job: &droverv1.Job{Id: req.GetJobId(), Site: "lyon", Request: req.GetRequest()}},
		nil
}

// labelled returns the accepted requests by their label "n".
func (g *takingGrid) labelled() map[string]*droverv1.SubmitRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	by := make(map[string]*droverv1.SubmitRequest)
	for _, r := range g.taken {
		by[r.GetRequest().GetLabels()["n"]] = r
	}
	return by
}

func requestFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "requests")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRequestsOfAFileDependOnOneAnother(t *testing.T) {
	g := newTakingGrid(t)
	g.known[someID] = true
	file := requestFile(t, `{"service": "s", "name": "join", "after": ["b", {"job": "c", "any": true}, "`+someID+
		`", "any:a"], "labels": {"n": "join"}}
{"service": "s", "name": "b", "after": ["a"], "labels": {"n": "b"}}
{"service": "s", "name": "c", "after": [{"job": "a"}], "labels": {"n": "c"}, "retries": 2, "retryOn": [75, 1], "site": "lyon", "begin": "1h"}
{"service": "s", "name": "a", "labels": {"n": "a"}}
`)
	code, out, stderr := command(map[string]string{"DROVER_AGENTS": g.url}, "submit", "--from", file)
	by := g.labelled()
	if code != cmdline.ExitOK || len(by) != 4 {
		t.Fatalf("submit: exit code %d: %s", code, stderr)
	}
	// IDs are printed in the order of the lines.
	var want []string
	ids := make(map[string]string)
	for _, n := range []string{"join", "b", "c", "a"} {
		ids[n] = by[n].GetJobId()
		want = append(want, ids[n])
	}
	if diff := cmp.Diff(want, strings.Fields(out)); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
	const done, any = droverv1.DependencyCondition_DEPENDENCY_CONDITION_UNSPECIFIED,
		droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY
	for n, after := range map[string]map[string]droverv1.DependencyCondition{
		"join": {ids["b"]: done, ids["c"]: any, someID: done, ids["a"]: any}, "b": {ids["a"]: done},
		"c": {ids["a"]: done}, "a": {},
	} {
		got := make(map[string]droverv1.DependencyCondition)
		for _, d := range by[n].GetRequest().GetAfter() {
			got[d.GetJobId()] = d.GetCondition()
		}
		if !maps.Equal(got, after) {
			t.Errorf("%s comes after %v, want %v", n, got, after)
		}
	}
	c := by["c"].GetRequest()
	if c.GetRetries() != 2 || !slices.Equal(c.GetRetryOn(), []int32{1, 75}) || c.GetSite() != "lyon" ||
		c.GetEarliestStart() == nil {
		t.Errorf("c is %v", c)
	}
}

func TestDependentsOfARefusedRequestAreNotSubmitted(t *testing.T) {
	g := newTakingGrid(t)
	file := requestFile(t, `{"service": "s", "name": "late", "after": ["mid"], "labels": {"n": "late"}}
{"service": "s", "name": "mid", "after": ["bad"], "labels": {"n": "mid"}}
{"service": "s", "name": "bad", "owner": "nobody"}
{"service": "s", "name": "good", "labels": {"n": "good"}}
`)
	code, out, stderr := command(map[string]string{"DROVER_AGENTS": g.url}, "--json", "submit", "--from", file)
	if by := g.labelled(); code != cmdline.ExitRefused || len(by) != 1 || by["good"] == nil {
		t.Fatalf("submit: exit code %d, %d accepted: %s", code, len(by), stderr)
	}
	if !strings.Contains(out, `"line":4,"name":"good"`) || strings.Count(out, "\n") != 1 {
		t.Errorf("it prints %s", out)
	}
	var lines []int
	for _, text := range strings.Split(strings.TrimSpace(stderr), "\n") {
		var e errorJSON
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, e.Line)
		if want := map[int]problem.Reason{
			1: "not-submitted", 2: "not-submitted", 3: "bad-value",
		}[e.Line]; e.Reason != want {
			t.Errorf("line %d: reason %s, want %s", e.Line, e.Reason, want)
		}
	}
	if !slices.Equal(lines, []int{1, 2, 3}) {
		t.Errorf("errors of lines %v", lines)
	}
}

func TestNothingIsSubmittedFromAMalformedFile(t *testing.T) {
	g := newTakingGrid(t)
	env := map[string]string{"DROVER_AGENTS": g.url}
	for text, want := range map[string]string{
		`{"service": "s", "name": "a", "after": ["a"]}`: `a cycle: line 1 (a) after line 1`,
		`{"service": "s", "name": "a", "after": ["b"]}
{"service": "s", "name": "c"}
{"service": "s", "name": "b", "after": ["c", "any:a"]}`: `a cycle: line 1 (a) after line 3 (b) after line 1`,
		`{"service": "s", "name": "a"}
{"service": "s", "name": "a"}`: `line 2: line 1 already has the name "a"`,
		`{"service": "s", "after": ["z"]}`:                                               `line 1: after "z", accepted: the name of another line, or a job's ID`,
		`{"service": "s", "after": ["all..all"]}`:                                        `line 1: after "all..all"`,
		`{"service": "s", "after": "10m"}`:                                               `the earliest start is begin`,
		`{"service": "s", "after": 600}`:                                                 `the earliest start is begin`,
		`{"service": "s", "after": ["10m"]}`:                                             `the earliest start is begin`,
		`{"service": "s", "after": [{"job": ""}]}`:                                       `line 1: after: {"job": ""}, accepted: a list`,
		`{"service": "s", "after": [{"jobs": "x"}]}`:                                     `line 1: after: {"jobs": "x"}, accepted: a list`,
		`{"service": "s", "after": [1]}`:                                                 `line 1: after: 1, accepted: a list`,
		`{"service": "s", "name": ""}`:                                                   `line 1: name "", accepted`,
		`{"service": "s", "name": "any:x"}`:                                              `line 1: name "any:x", accepted`,
		`{"service": "s", "begin": "tomorrow"}`:                                          `line 1: begin: "tomorrow", accepted: a time from now`,
		`{"service": "s", "begin": -5}`:                                                  `line 1: --begin -5s, accepted: a time in the future`,
		`{"service": "s", "retries": 1, "retryOn": 1}`:                                   `line 1: retryOn: 1, accepted: exit codes`,
		`{"service": "s", "service": "t"}`:                                               `line 1: "service" twice, accepted: once`,
		`{"service": "s", "arguments": {"a": 1, "b": 2, "a": 3}}`:                        `line 1: "a" twice, accepted: once`,
		`{"service": "s", "after": [{"job": "x", "job": "y"}]}`:                          `line 1: "job" twice, accepted: once`,
		`{"service": "s", "labels": {"a": "1", "\u0061": "2"}}`:                          `line 1: "a" twice, accepted: once`,
		`{"Service": "s"}`:                                                               `line 1: unknown field "Service"`,
		`{"service": "s", "after": ["` + strings.Replace(someID, "01", "02", 1) + `x"]}`: `line 1: after "`,
	} {
		for _, from := range []string{requestFile(t, text)} {
			code, out, stderr := command(env, "submit", "--from", from)
			if code != cmdline.ExitUsage || out != "" || !strings.Contains(stderr, want) ||
				!strings.Contains(stderr, "nothing was submitted") {
				t.Errorf("%s: exit code %d, stderr %q, want %q", text, code, stderr, want)
			}
		}
	}
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--from", ""}, cmdline.ExitUsage, `--from "", accepted: a file, or - for stdin`},
		{[]string{"s", "--from="}, cmdline.ExitUsage, `--from "", accepted: a file, or - for stdin`},
		{[]string{"--from", "/nowhere/at/all"}, cmdline.ExitNotFound, "no such file"},
		{[]string{"s", "--array", "3-1"}, cmdline.ExitUsage, "--array"},
	} {
		code, _, stderr := command(env, append([]string{"submit"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || !strings.Contains(stderr, "nothing was submitted") {
			t.Errorf("%q: exit code %d, stderr %q", tc.args, code, stderr)
		}
	}
	if len(g.taken) > 0 {
		t.Errorf("%d were submitted", len(g.taken))
	}
}

func TestAfterBeginAndRetriesOnTheCommandLine(t *testing.T) {
	g := newTakingGrid(t)
	g.known[someID], g.known[movingJob] = true, true
	env := map[string]string{"DROVER_AGENTS": g.url}
	code, _, stderr := command(env, "submit", "s", "--after", "any:"+someID+","+movingJob, "--retries", "3",
		"--retry-on", "1,75,100-102", "--site", "lyon", "--begin", "2100-01-01T00:00:00Z")
	if code != cmdline.ExitOK {
		t.Fatalf("submit: exit code %d: %s", code, stderr)
	}
	r := g.taken[0].GetRequest()
	if len(r.GetAfter()) != len(slices.Compact([]string{someID, movingJob})) || r.GetRetries() != 3 ||
		!slices.Equal(r.GetRetryOn(), []int32{1, 75, 100, 101, 102}) ||
		r.GetSite() != "lyon" || r.GetEarliestStart().AsTime().Year() != 2100 {
		t.Errorf("the request is %v", r)
	}
	for args, want := range map[string]string{
		"--after 10m":                        "hint: the earliest start is --begin 10m",
		"--after 01:30:00":                   "hint: the earliest start is --begin 01:30:00",
		"--after 2026-05-01T09:00:00Z":       "is --begin 2026-05-01T09:00:00Z",
		"--after x":                          `--after "x", accepted: a job's ID`,
		"--after any:":                       `--after "any:", accepted: a job's ID`,
		"--after any:any:01":                 `--after "any:any:01", accepted`,
		"--begin 0s":                         "--begin 0s, accepted: a time in the future",
		"--begin -1h":                        "--begin -1h, accepted: a time in the future",
		"--begin 2001-01-01T00:00:00Z":       "accepted: a time in the future",
		"--begin soon":                       `--begin "soon", accepted: a time from now`,
		"--retries 2 --retry-on 5,1":         `--retry-on "5,1": 1 comes after 5, accepted: ascending numbers`,
		"--retries 2 --retry-on x":           `--retry-on "x", accepted`,
		"--array 1-2 --from f":               "can't be used together",
		"--after " + strings.Repeat("0", 99): "accepted: a job's ID",
	} {
		code, _, stderr := command(env, append([]string{"submit", "s"}, strings.Fields(args)...)...)
		if code != cmdline.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, stderr %q, want %q", args, code, stderr, want)
		}
	}
	for args, want := range map[string]string{
		"--retries 101":              "request.retries: 101, accepted: 0..100",
		"--retry-on 1":               "request.retry_on: ",
		"--retries 2 --retry-on 0-5": "request.retry_on: 0, accepted: 1..255",
		"--retries 2 --retry-on 256": "request.retry_on: 256, accepted: 1..255",
		"--array 1-1 --retries -1":   "request.retries: -1, accepted: 0..100",
	} {
		code, _, stderr := command(env, append([]string{"submit", "s"}, strings.Fields(args)...)...)
		if code != cmdline.ExitRefused || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, stderr %q, want %q", args, code, stderr, want)
		}
	}
	if len(g.taken) != 1 {
		t.Errorf("%d were submitted", len(g.taken))
	}
}

// A file without a cycle has an order in which each request follows its dependencies. The order
// of the file is kept if it satisfies that. A file with a cycle has no order.
func TestSubmissionOrderRespectsDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "requests")
		entries := make([]entry, n)
		reach := make([][]bool, n) // direct and indirect dependencies
		forward := false
		for i := range entries {
			entries[i].line, entries[i].name = i+1, fmt.Sprint("r", i)
			reach[i] = make([]bool, n)
			for _, of := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 2).Draw(t, "needs") {
				entries[i].needs = append(entries[i].needs, need{of: of})
				reach[i][of] = true
				forward = forward || of >= i
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		cyclic := false
		for i := range n {
			cyclic = cyclic || reach[i][i]
		}
		order, err := submissionOrder(entries)
		if (err != nil) != cyclic {
			t.Fatalf("%v, a cycle: %v", err, cyclic)
		}
		if err != nil {
			return
		}
		at := make([]int, n)
		for place, i := range order {
			at[i] = place
		}
		for i := range entries {
			for _, need := range entries[i].needs {
				if at[need.of] >= at[i] {
					t.Fatalf("%d comes before %d in %v", i, need.of, order)
				}
			}
		}
		if !forward && !slices.IsSorted(order) {
			t.Fatalf("%v, but the file's order already satisfies all dependencies", order)
		}
	})
}

// Results are emitted once and in the order of the requests, whichever of them were started.
func TestReordererEmitsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "requests")
		order := rapid.Permutation(seq(n)).Draw(t, "order")
		begun := rapid.IntRange(0, n).Draw(t, "begun")
		var got []int
		p := newReorderer(order, func(i int, _ submitResult) { got = append(got, i) })
		for k := range begun {
			p.add(k, submitResult{})
		}
		p.flush()
		want := slices.Sorted(slices.Values(order[:begun]))
		if !slices.Equal(got, want) {
			t.Fatalf("emitted %v, want %v", got, want)
		}
	})
}

func seq(n int) []int {
	var list []int
	for i := range n {
		list = append(list, i)
	}
	return list
}
