package batchtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

var rewrite = flag.Bool("rewrite", false, "write the schedules that scripts give into their files")

// Forecaster answers asks that a policy leaves to it.
type Forecaster func(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate)

// Run plays every script that matches the pattern through a new policy.
func Run(t *testing.T, pattern string, make batch.Factory, forecast Forecaster) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts match %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := parse(string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			got := play(t, s, make, forecast)
			if *rewrite {
				if err := os.WriteFile(file, []byte(s.text+dashes+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(s.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// player carries a script out and writes down what happens.
type player struct {
	engine   *engine.Engine
	forecast Forecaster
	chart    chart
	notes    strings.Builder
}

func play(t *testing.T, s *script, make batch.Factory, forecast Forecaster) string {
	platform := batch.Processors(s.processors)
	for i := range platform.Nodes {
		platform.Nodes[i].Memory = s.memory
	}
	policy, err := make(platform, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{forecast: forecast, chart: newChart(s.processors)}
	p.engine = engine.New(policy, p, engine.NewLedger(platform))
	steps := s.steps
	for {
		next := p.engine.Next()
		if len(steps) > 0 {
			next = min(next, steps[0].at)
		}
		if next == batch.Never {
			break
		}
		p.engine.Advance(next)
		var asks []step
		for ; len(steps) > 0 && steps[0].at == next; steps = steps[1:] {
			if steps[0].verb == "estimate" {
				asks = append(asks, steps[0])
			} else {
				p.do(t, steps[0])
			}
		}
		p.engine.Pass()
		for _, ask := range asks {
			p.estimate(t, ask)
		}
	}
	return p.chart.list() + p.notes.String() + "\n" + p.chart.draw()
}

func (p *player) do(t *testing.T, s step) {
	h := batch.Handle(s.id)
	switch s.verb {
	case "submit", "reserve", "adopt":
		spec := s.spec()
		spec.Handle, spec.Shape = h, s.shapes[0]
		work := spec.Shape.Walltime
		if r, ok := s.option["runs"]; ok {
			work = batch.Duration(r) * batch.Second
		}
		switch s.verb {
		case "submit":
			p.engine.Submit(spec, work)
		case "reserve":
			p.engine.Admit(spec, work)
			p.engine.Apply(&batch.Event{Kind: batch.Reserve, Job: h, Spec: spec})
		default:
			since := s.time("since")
			p.engine.Admit(spec, since.Add(work).Sub(p.engine.Now()))
			p.engine.Apply(&batch.Event{Kind: batch.Adopt, Job: h, Spec: spec, Since: since})
		}
	case "window":
		from := s.time("from")
		spec := &batch.Job{
			Handle: h, Shape: batch.Shape{Width: s.shapes[0].Width},
			Window: &batch.Window{Start: from, End: from.Add(s.shapes[0].Walltime)},
		}
		p.engine.Apply(&batch.Event{Kind: batch.Reserve, Job: h, Spec: spec})
	case "fail":
		p.engine.FailStart(h)
	case "place":
		p.engine.Apply(&batch.Event{Kind: batch.Place, Job: h, Shape: s.shapes[0], Restore: s.option["restore"] == 1})
	case "down", "up":
		kind := batch.NodeDown
		if s.verb == "up" {
			kind = batch.NodeUp
		}
		p.engine.Apply(&batch.Event{Kind: kind, Node: int32(s.id)})
	case "confirm", "cancel", "hold":
		kind := map[string]batch.EventKind{"confirm": batch.Confirm, "cancel": batch.Cancel, "hold": batch.Hold}[s.verb]
		p.engine.Apply(&batch.Event{Kind: kind, Job: h})
	default:
		t.Fatalf("unknown command %q", s.verb)
	}
}

func (p *player) estimate(t *testing.T, s step) {
	asks := []batch.Ask{{Job: s.spec(), Shapes: s.shapes}}
	if _, ok := s.option["window"]; ok {
		from := s.time("window")
		asks[0].Job.Window = &batch.Window{Start: from, End: from.Add(s.shapes[0].Walltime)}
	}
	out := make([]batch.Estimate, 1)
	now := p.engine.Now()
	if p.engine.Policy().Estimate(now, asks, out) != nil {
		if p.forecast == nil {
			t.Fatal("the policy does not plan and there is no forecaster")
		}
		p.forecast(now, p.engine.Policy(), asks, out)
	}
	fmt.Fprintf(&p.notes, "at %s %v:", seconds(now), out[0].Kind)
	for i, at := range out[0].Starts {
		fmt.Fprintf(&p.notes, " %dx%s from %s", s.shapes[i].Width, seconds(batch.Time(s.shapes[i].Walltime)),
			seconds(at))
	}
	p.notes.WriteString("\n")
}

// Started implements engine.Observer.
func (p *player) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	p.chart.start(job.Handle, now, job.Shape.Width)
}

// Ended implements engine.Observer.
func (p *player) Ended(now batch.Time, job *batch.Job, killed bool) {
	if p.chart.bars[job.Handle] != nil {
		p.chart.end(job.Handle, now, killed)
	}
}
