package dynp_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

// draw draws settings and returns a naive policy with the same settings.
func draw(t *rapid.T, processors int32) (batch.Settings, *naive) {
	n := &naive{
		capacity: processors, running: map[batch.Handle]rectangle{}, stepped: -1, changed: -1, wake: batch.Never,
		started: map[string]int{}, cases: map[string]int{},
	}
	n.shared = rapid.Bool().Draw(t, "one list")
	n.policies = rapid.Permutation(dynp.Orders()).Draw(t, "policies")
	n.policies = n.policies[:rapid.IntRange(1, len(n.policies)).Draw(t, "so many")]
	if n.shared && !slices.Contains(n.policies, "FCFS") {
		n.policies[0] = "FCFS"
	}
	n.active = n.policies[0]
	n.decider = rapid.SampledFrom([]string{"simple", "advanced", "preferred:" + rapid.SampledFrom(n.policies).Draw(t,
		"preferred")}).Draw(t, "decider")
	n.metrics = rapid.Permutation(dynp.Metrics()).Draw(t, "metrics")
	n.metrics = n.metrics[:rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "of them")]
	n.percent = map[int][]int64{1: {100}, 2: {20, 80}, 3: {1, 33, 66}}[len(n.metrics)]
	equal := rapid.SampledFrom([]string{"0", "0", "0.000001", "0.05", "0.5", "1"}).Draw(t, "equal")
	n.equal, _ = new(big.Rat).SetString(equal)
	n.half = rapid.Bool().Draw(t, "half")
	n.pause = batch.Duration(rapid.SampledFrom([]int{0, 0, 0, 3, 20}).Draw(t, "pause")) * batch.Second
	metric := n.metrics[0]
	if len(n.metrics) > 1 {
		var parts []string
		for k, m := range n.metrics {
			parts = append(parts, fmt.Sprintf("%s:%d", m, n.percent[k]))
		}
		metric = strings.Join(parts, ",")
	}
	return batch.Settings{
		"policies": strings.Join(n.policies, ","), "decider": n.decider, "metric": metric, "equal": equal,
		"tuning": map[bool]string{true: "half", false: "full"}[n.half], "pause": n.pause.String(),
		"list": map[bool]string{true: "shared", false: "own"}[n.shared],
	}, n
}

// workload draws jobs in order of submission. It uses few distinct times, so that events
// coincide and plans are often equal.
func workload(t *rapid.T, processors, longest int) []job {
	jobs := make([]job, rapid.IntRange(1, longest).Draw(t, "jobs"))
	now := 0
	for i := range jobs {
		now += rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 5}).Draw(t, "gap")
		wall := rapid.SampledFrom([]int{1, 2, 3, 4, 6, 12, 13}).Draw(t, "walltime")
		run := wall
		if rapid.Bool().Draw(t, "early") {
			run = rapid.IntRange(0, wall).Draw(t, "runtime")
		}
		jobs[i] = job{now, 0, rapid.IntRange(1, processors).Draw(t, "width"), wall, run}
		if rapid.IntRange(0, 9).Draw(t, "later") == 0 {
			jobs[i].From = now + rapid.IntRange(0, 9).Draw(t, "from")
		}
	}
	return jobs
}

// Sharing and pruning of plans change neither the starts nor the result of any step.
func TestStepsEqualThoseOfPlansBuiltFromScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		platform := batch.Processors(int32(processors))
		settings, slow := draw(t, int32(processors))
		fast, err := dynp.New(platform, settings)
		if err != nil {
			t.Fatal(err)
		}
		jobs := workload(t, processors, 30)
		want := play(slow, platform, jobs, nil)
		got := play(fast, platform, jobs, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v, %v (-naive +dynp):\n%s", settings, jobs, diff)
		}
		if diff := cmp.Diff(slow.tuning(), tuningOf(fast.(*dynp.Policy))); diff != "" {
			t.Fatalf("%v, %v (-naive +dynp):\n%s", settings, jobs, diff)
		}
	})
}

// A fork decides the same after the same events; estimates and forks have no side effects.
func TestForksAndEstimatesHaveNoSideEffects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		platform := batch.Processors(int32(processors))
		settings, _ := draw(t, int32(processors))
		jobs := workload(t, processors, 20)
		make := func() *dynp.Policy {
			p, err := dynp.New(platform, settings)
			if err != nil {
				t.Fatal(err)
			}
			return p.(*dynp.Policy)
		}
		alone, asked := make(), make()
		want := play(alone, platform, jobs, nil)
		shapes := []batch.Shape{{Width: 1, Walltime: 9 * batch.Second}, {Width: 2, Walltime: 3 * batch.Second}}
		out := []batch.Estimate{{}}
		relay := &relay{asked}
		got := play(relay, platform, jobs, func(now batch.Time) {
			f := relay.Fork()
			f.Apply(now, &batch.Event{Kind: batch.Submit, Job: 1000, Spec: &batch.Job{Handle: 1000, Shape: shapes[0]}})
			f.Decide(now, &batch.Decisions{})
			relay.Estimate(now, []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}}, out)
			relay.Estimate(now+1, []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}}, out)
			relay.Policy = relay.Fork()
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v, %v (-left alone +forked and asked):\n%s", settings, jobs, diff)
		}
		if diff := cmp.Diff(tuningOf(alone), tuningOf(relay.Policy.(*dynp.Policy))); diff != "" {
			t.Fatalf("%v (-left alone +forked):\n%s", settings, diff)
		}
	})
}

// relay is a policy that can be replaced.
type relay struct{ batch.Policy }

// An estimate is the slot that a job gets if it is submitted now and only the active policy is
// available.
func TestAJobGetsTheEstimatedSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		platform := batch.Processors(int32(processors))
		policy := rapid.SampledFrom(dynp.Orders()).Draw(t, "policy")
		p, err := dynp.New(platform, batch.Settings{"policies": policy})
		if err != nil {
			t.Fatal(err)
		}
		var shapes []batch.Shape
		for w := range int32(processors) + 1 {
			shapes = append(shapes,
				batch.Shape{Width: w + 1, Walltime: batch.Duration(at(rapid.IntRange(1, 13).Draw(t, "d")))})
		}
		later := at(rapid.IntRange(0, 9).Draw(t, "from"))
		play(p, platform, workload(t, processors, 20), func(now batch.Time) {
			asks := []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}, {
				Job: &batch.Job{EarliestStart: now + later}, Shapes: shapes, Best: true,
			}}
			out := make([]batch.Estimate, 2)
			if p.Estimate(now, asks, out) != nil {
				t.Fatal("no answer")
			}
			for i, a := range asks {
				for k, s := range shapes {
					spec := *a.Job
					spec.Handle, spec.Shape = 1000, s
					f := p.Fork()
					f.Apply(now, &batch.Event{Kind: batch.Submit, Job: 1000, Spec: &spec})
					if got, want := out[i].Starts[k], begin(now, f, &spec); got != want ||
						out[i].Kind != batch.Planned {
						t.Fatalf("%s at %d: %v from %d estimated at %d (%v), starts at %d", policy, now, s,
							spec.EarliestStart, got, out[i].Kind, want)
					}
				}
			}
		})
	})
}

// begin returns the start of a submitted job, from a pass or the plan.
func begin(now batch.Time, p batch.Policy, spec *batch.Job) batch.Time {
	var pass batch.Decisions
	p.Decide(now, &pass)
	for _, d := range pass.List {
		if d.Job == spec.Handle {
			return now
		}
	}
	out := make([]batch.Estimate, 1)
	p.Estimate(now, []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out)
	return out[0].Starts[0]
}
