package main

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/server/services/lu"
)

var demoEpoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(seconds float64) time.Time {
	return demoEpoch.Add(time.Duration(seconds * float64(time.Second)))
}

func demoJob(service, site string, width int, submitted, started, ended, estimate float64) *client.Job {
	j := &client.Job{
		ID: service + "@" + site, Service: service, Site: site, State: client.Waiting,
		Shape:     client.Shape{Width: width},
		Submitted: after(submitted), EstimatedCompletion: after(estimate).Sub(after(submitted)),
		EstimateKind: client.Promised,
	}
	if site == "toulouse" {
		j.EstimateKind = client.Forecast
	}
	if started > 0 {
		j.State, j.Started = client.Running, after(started)
	}
	if ended > 0 {
		j.State, j.Ended = client.Done, after(ended)
	}
	return j
}

// demoExample is a board in the middle of its stream: the last request is not
// submitted yet, and toulouse does not answer.
func demoExample() *demoBoard {
	b := newDemoBoard(demoEpoch, make([]demoRequest, 6), []client.Site{
		{Name: "lyon", Policy: "cbf", Speed: 1, Processors: 8, Status: &client.Status{
			Running: 1, Waiting: 1, Load: 0.5,
		}},
		{Name: "nancy", Policy: "cbf", Speed: 1.5, Processors: 4, Status: &client.Status{}},
		{Name: "toulouse", Policy: "easy", Speed: 0.8, Processors: 6},
	})
	for n, j := range []*client.Job{
		demoJob("sleep", "lyon", 4, 0, 0.5, 6, 8),
		demoJob("lu", "toulouse", 2, 1, 2, 5, 4.5),
		demoJob("mandelbrot", "lyon", 8, 2, 4, 9.25, 10),
		demoJob("sleep", "lyon", 4, 3, 9, 0, 15),
		demoJob("sleep", "lyon", 8, 4, 0, 0, 20.5),
	} {
		b.put(n, j)
	}
	return b
}

func TestFrameShowsSitesAndJobs(t *testing.T) {
	want := `  9.5s  5 of 6 requests submitted, 3 ended

SITE      POLICY  SPEED  PROCESSORS  RUNNING  WAITING  LOAD
lyon      cbf         1           8        1        1   50%
nancy     cbf       1.5           4        0        0    0%
toulouse  easy      0.8           6        -        -     -

JOB  SERVICE     SITE      WIDTH  STATE    ESTIMATED  ACTUAL  ERROR  ESTIMATE
  1  sleep       lyon          4  done           8.0     6.0   -2.0  promised
  2  lu          toulouse      2  done           4.5     5.0   +0.5  forecast
  3  mandelbrot  lyon          8  done          10.0     9.2   -0.8  promised
  4  sleep       lyon          4  running       15.0                 promised
  5  sleep       lyon          8  waiting       20.5                 promised`
	if diff := cmp.Diff(want, strings.Join(demoExample().frame(after(9.5), 40), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestFrameOfASmallTerminalKeepsActiveJobs(t *testing.T) {
	b := demoExample()
	for height := range 16 {
		if lines := b.frame(after(9.5), height); len(lines) > height {
			t.Errorf("height %d: %d lines", height, len(lines))
		}
	}
	var jobs []string
	for _, l := range b.frame(after(9.5), 11)[8:] {
		jobs = append(jobs, strings.Fields(l)[0])
	}
	if diff := cmp.Diff([]string{"3", "4", "5"}, jobs); diff != "" {
		t.Error(diff)
	}
}

func TestOverwriteReplacesTheLastFrame(t *testing.T) {
	if got, want := overwrite(0, []string{"one", "two"}, 80), "\rone\x1b[K\n\rtwo\x1b[K\n\x1b[J"; got != want {
		t.Errorf("first: %q", got)
	}
	if got, want := overwrite(2, []string{"a long line"}, 6), "\x1b[2A\ra long\x1b[K\n\x1b[J"; got != want {
		t.Errorf("second: %q", got)
	}
}

func TestScreenPrintsTheStartAndEndOfEachJob(t *testing.T) {
	var out bytes.Buffer
	s := &demoScreen{&demoTerminal{w: &out}, newDemoBoard(demoEpoch, make([]demoRequest, 2), nil)}
	s.changed(0, demoJob("sleep", "lyon", 4, 0.5, 0, 0, 8))
	s.changed(0, demoJob("sleep", "lyon", 4, 0.5, 2, 0, 8))
	s.changed(0, demoJob("sleep", "lyon", 4, 0.5, 2, 7, 8))
	quick := demoJob("lu", "toulouse", 1, 7.5, 7.5, 7.75, 10)
	quick.State, quick.Outcome.Reason = client.Failed, "exit code 3"
	s.changed(1, quick) // over before it was seen
	want := `   0.5s  #1   sleep      at lyon     on 4  estimated end 8.0s (promised)
   7.0s  #1   sleep      at lyon     on 4  done after 1.5s of waiting, -1.0s from the estimate
   7.5s  #2   lu         at toulouse on 1  estimated end 10.0s (forecast)
   7.8s  #2   lu         at toulouse on 1  failed after 0.0s of waiting, -2.2s from the estimate: exit code 3
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryCountsBySite(t *testing.T) {
	b := demoExample()
	b.put(3, demoJob("sleep", "lyon", 4, 3, 9, 14, 15))
	killed := demoJob("sleep", "lyon", 8, 4, 14, 21, 20.5)
	killed.State = client.Killed
	b.put(4, killed)
	b.stream = b.stream[:5]
	got := summarize(b, 9)
	want := demoSummary{
		Seed: 9, Jobs: 5, Done: 4, Makespan: 21,
		Sites: []demoSiteSummary{
			{
				// waits 0.5, 2, 6, 10; responses 6, 7.25, 11, 17; errors -2, -0.75, -1, 0.5
				Name: "lyon", Policy: "cbf", Speed: 1, Processors: 8, Jobs: 4, WaitMean: 4.625, ResponseMean: 10.3125,
				EstimateKind: client.Promised, ErrorBias: -0.8125, ErrorP50: 0.75, ErrorP90: 2, Late: 1,
			},
			{Name: "nancy", Policy: "cbf", Speed: 1.5, Processors: 4},
			{
				Name: "toulouse", Policy: "easy", Speed: 0.8, Processors: 6, Jobs: 1, WaitMean: 1, ResponseMean: 4,
				EstimateKind: client.Forecast, ErrorBias: 0.5, ErrorP50: 0.5, ErrorP90: 0.5, Late: 1,
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got.Checks = demoChecks{
		Solutions: 1, ResidualMax: 4.5e-16, Pictures: 1, Saved: []string{"x.png"}, Problems: []string{"job 5"},
	}
	var out bytes.Buffer
	if err := got.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4 of 5 jobs done in 21.0s (seed 9)\n",
		"lyon      cbf         1           8     4  4.6s     10.3s  promised  -0.8s  0.8s  2.0s     1\n",
		"nancy     cbf       1.5           4     0     -         -                -     -     -     0\n",
		"checked: 1 solutions, worst residual 4.5e-16; 1 pictures\nsaved: x.png\nWRONG: job 5\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestClosestDecisionInvolvesAQueue(t *testing.T) {
	b := newDemoBoard(demoEpoch, make([]demoRequest, 6), nil)
	decided := func(n int, candidates ...client.Candidate) {
		j := demoJob("sleep", "lyon", 1, 0, 0, 0, 1)
		j.Decision = &client.Decision{Chosen: "lyon", Candidates: candidates}
		b.put(n, j)
	}
	at := func(site string, wait, margin time.Duration) client.Candidate {
		return client.Candidate{Site: site, Wait: wait, Margin: margin}
	}
	missing := client.Candidate{Site: "nancy", Missing: &client.Missing{}}
	if j := closestDecision(b); j != nil {
		t.Errorf("of none: %v", j)
	}
	const cs = 10 * time.Millisecond
	decided(0, at("lyon", 0, 0), at("toulouse", 0, 10*cs)) // no queue
	decided(1, at("lyon", 100*cs, 0), missing)             // no choice
	// 90 ms is too short to be seen.
	decided(2, at("lyon", 100*cs, 0), at("toulouse", 100*cs, 9*cs))
	decided(3, at("lyon", 100*cs, 0), at("toulouse", 0, 30*cs))                              // 300 ms
	decided(4, at("lyon", 0, 0), at("toulouse", 100*cs, 20*cs), at("nancy", 100*cs, 900*cs)) // 200 ms
	decided(5, at("lyon", 0, 0), at("nancy", 100*cs, 10*cs), at("toulouse", 100*cs, 15*cs))  // 100 ms
	if j := closestDecision(b); j != b.jobs[5] {
		t.Errorf("not the last: %+v", j.Decision)
	}
	b.jobs[5] = nil
	if j := closestDecision(b); j != b.jobs[4] {
		t.Errorf("not the fifth: %+v", j.Decision)
	}
}

func TestChecksFindWrongResults(t *testing.T) {
	const ones = "%%MatrixMarket matrix array real general\n147 1\n"
	right := ones + strings.Repeat("1\n", 147)
	var v demoChecks
	if err := v.solution(lu.LundA(), []byte(right)); err != nil || v.Solutions != 1 || v.ResidualMax != 0 {
		t.Errorf("the solution: %v, %+v", err, v)
	}
	for what, file := range map[string]string{
		"one number off": ones + strings.Repeat("1\n", 146) + "1.001\n",
		"too short":      "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n",
		"no matrix":      "hello",
	} {
		if err := v.solution(lu.LundA(), []byte(file)); err == nil {
			t.Errorf("%s passes", what)
		}
	}
	if v.Solutions != 1 {
		t.Errorf("%d solutions", v.Solutions)
	}

	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 6, 4))); err != nil {
		t.Fatal(err)
	}
	asked := func(columns, rows int64) *demoRequest {
		return &demoRequest{values: map[string]any{"columns": columns, "rows": rows}}
	}
	if err := v.picture(asked(6, 4), file.Bytes()); err != nil || v.Pictures != 1 {
		t.Errorf("the picture: %v", err)
	}
	if v.picture(asked(7, 4), file.Bytes()) == nil || v.picture(asked(6, 5), file.Bytes()) == nil ||
		v.picture(asked(6, 4), file.Bytes()[:file.Len()/2]) == nil {
		t.Error("a wrong picture is accepted")
	}
}
