package dfrs_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// step is a random action. Its target is chosen when it runs.
type step struct {
	Verb           string
	Which, Gap     int
	Tasks, Memory  int
	CPU            batch.Share
	Groups, Option bool
	Resident       bool
}

var verbs = []string{
	"submit", "submit", "submit", "submit", "later", "reserve", "confirm", "hold", "place", "cancel", "fail", "adopt",
	"finish", "finish", "finish", "stop", "stop", "stop", "stop", "down", "up", "wait", "wait", "measure", "measure",
}

func steps() *rapid.Generator[[]step] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom(verbs).Draw(t, "verb"), rapid.IntRange(0, 99).Draw(t, "which"),
			rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "gap"), rapid.IntRange(1, 6).Draw(t, "tasks"),
			rapid.IntRange(0, 10).Draw(t, "memory"),
			rapid.SampledFrom([]batch.Share{batch.One, batch.One / 4, 300_000}).Draw(t, "cpu"),
			rapid.IntRange(0, 3).Draw(t, "groups") == 0, rapid.Bool().Draw(t, "option"),
			rapid.IntRange(0, 2).Draw(t, "resident") == 0,
		}
	}), 1, 60)
}

// claim is a job in a live driver, where a job that must leave takes its time.
type claim struct {
	spec  *batch.Job
	state string // waiting, held, incoming, running, leaving, paused
	at    []batch.NodeAllocation
	old   []batch.NodeAllocation // not left yet
	lost  bool                   // its node is down, and its outcome is not reported yet
	home  []batch.NodeAllocation // of a resident job that has begun
	needs []batch.TaskGroup      // measured needs; nil: as declared
}

// world is a driver that stops jobs slowly, and checks all decisions.
type world struct {
	t        *rapid.T
	p        batch.Policy
	twin     batch.Policy
	platform batch.Platform
	now      batch.Time
	jobs     map[batch.Handle]*claim
	next     batch.Handle
	down     map[int32]bool
	failing  map[batch.Handle]bool
	over     []int64 // measured use of memory on each node
	log      []string
	meddle   func(w *world)
}

func (w *world) pick(which int, states ...string) batch.Handle {
	var list []batch.Handle
	for _, h := range slices.Sorted(maps.Keys(w.jobs)) {
		if slices.Contains(states, w.jobs[h].state) && !w.jobs[h].lost {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return batch.NoJob
	}
	return list[which%len(list)]
}

func (w *world) tell(ev batch.Event) {
	w.log = append(w.log, fmt.Sprintf("%d %v %d", w.now, ev.Kind, ev.Job))
	if w.twin != nil {
		again := ev
		w.twin.Apply(w.now, &again)
	}
	w.p.Apply(w.now, &ev)
}

func (w *world) spec(s step) *batch.Job {
	w.next++
	spec := &batch.Job{Handle: w.next, CPU: s.CPU, Memory: int64(s.Memory), Shape: batch.Shape{
		Width: int32(s.Tasks), Walltime: batch.Minute,
	}, Owner: "u", Resident: s.Resident}
	if s.Groups {
		spec.Groups = []batch.TaskGroup{
			{Tasks: 1, CPU: s.CPU, Memory: int64(s.Memory)}, {Tasks: int32(s.Tasks), CPU: batch.One / 2, Memory: 1},
		}
	}
	if s.Verb == "later" {
		spec.EarliestStart = w.now + batch.Time(s.Which%9)*batch.Time(batch.Second)
	}
	if dfrs.Validate(w.platform, spec) != nil {
		spec.Memory, spec.Groups = 1, nil
	}
	return spec
}

func (w *world) do(s step) {
	move := func(kind batch.EventKind, to string, from ...string) {
		if h := w.pick(s.Which, from...); h != batch.NoJob {
			w.tell(batch.Event{Kind: kind, Job: h, Restore: s.Option, Shape: w.jobs[h].spec.Shape})
			if w.jobs[h].state = to; to == "" {
				delete(w.jobs, h)
			}
		}
	}
	node := int32(s.Which % len(w.platform.Nodes))
	switch s.Verb {
	case "submit", "later":
		spec := w.spec(s)
		w.jobs[spec.Handle] = &claim{spec: spec, state: "waiting"}
		w.tell(batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	case "reserve":
		spec := w.spec(s)
		w.jobs[spec.Handle] = &claim{spec: spec, state: "incoming"}
		w.tell(batch.Event{Kind: batch.Reserve, Job: spec.Handle, Spec: spec})
	case "adopt":
		if memory, _ := w.used(node); memory == 0 && !w.down[node] {
			s.Groups = false
			spec := w.spec(s)
			spec.Shape.Width, spec.Groups = 1, nil
			at := []batch.NodeAllocation{{Node: node, Processors: 1, Share: spec.CPU / 2}}
			if _, cpu := w.used(node); cpu == 0 {
				w.jobs[spec.Handle] = &claim{spec: spec, state: "running", at: at}
				w.jobs[spec.Handle].begin()
				w.tell(batch.Event{
					Kind: batch.Adopt, Job: spec.Handle, Spec: spec, Since: max(0, w.now-9), Allocation: at,
				})
			}
		}
	case "confirm":
		move(batch.Confirm, "waiting", "incoming")
	case "hold":
		move(batch.Hold, "held", "waiting", "incoming")
	case "place":
		if h := w.pick(s.Which, "held", "waiting"); h != batch.NoJob && w.jobs[h].spec.Groups == nil {
			move(batch.Place, "waiting", "held", "waiting")
		}
	case "cancel":
		move(batch.Cancel, "", "waiting", "held", "incoming", "paused")
	case "fail":
		w.failing[w.pick(s.Which, "waiting")] = true
	case "finish":
		if h := w.pick(s.Which, "paused"); h != batch.NoJob && w.jobs[h].home != nil && s.Option {
			delete(w.jobs, h)
			w.tell(batch.Event{Kind: batch.Finish, Job: h})
			return
		}
		move(batch.Finish, "", "running", "leaving")
	case "stop":
		w.stop(s)
	case "down", "up":
		w.turn(node, s)
	case "measure":
		if h := w.pick(s.Which, "running", "leaving", "paused"); h != batch.NoJob {
			w.measure(h, s)
		}
	}
}

// stop ends the stopping of a job, on request or on its own.
func (w *world) stop(s step) {
	for _, h := range slices.Sorted(maps.Keys(w.jobs)) {
		if j := w.jobs[h]; (j.state == "leaving" || j.old != nil) && !j.lost {
			j.old = nil
			if j.state == "leaving" {
				j.state = "paused"
			}
			w.tell(batch.Event{Kind: batch.Stopped, Job: h, Checkpoint: s.Option || j.state == "running"})
			if !s.Option && j.state == "paused" {
				j.state, j.home = "waiting", nil
			}
			j.lost = w.nodeless(j.home)
			return
		}
	}
	if h := w.pick(s.Which, "running"); h != batch.NoJob && s.Which%5 == 0 {
		w.jobs[h].state, w.jobs[h].at = "paused", nil
		w.tell(batch.Event{Kind: batch.Stopped, Job: h, Checkpoint: true})
	} else if h := w.pick(s.Which, "paused"); h != batch.NoJob && w.jobs[h].home != nil && s.Which%5 == 1 {
		w.jobs[h].state, w.jobs[h].home = "waiting", nil
		w.tell(batch.Event{Kind: batch.Stopped, Job: h})
	}
}

// turn switches a node on or off. Some jobs on it end at once; resolve reports the outcome of
// the others later.
func (w *world) turn(node int32, s step) {
	if w.down[node] == (s.Verb == "down") {
		return
	}
	if s.Verb == "up" {
		if s.Which%3 > 0 {
			w.resolve(s.Option)
		}
		w.down[node] = false
		w.tell(batch.Event{Kind: batch.NodeUp, Node: node})
		for _, j := range w.jobs { // jobs whose nodes are all up have been running all along
			j.lost = j.lost && (w.nodeless(j.at) || w.nodeless(j.home))
		}
		return
	}
	w.down[node] = true
	w.tell(batch.Event{Kind: batch.NodeDown, Node: node})
	for _, j := range w.jobs {
		j.lost = j.lost || j.state == "running" && w.nodeless(j.at) || j.state == "paused" && w.nodeless(j.home)
		if j.lost {
			j.old = nil
		}
	}
	if s.Which%2 == 0 {
		w.resolve(s.Option)
	}
}

// resolve reports the outcome of each job on a lost node.
func (w *world) resolve(ended bool) {
	for _, h := range slices.Sorted(maps.Keys(w.jobs)) {
		j := w.jobs[h]
		if !j.lost {
			continue
		}
		if j.lost = false; ended {
			delete(w.jobs, h)
			w.tell(batch.Event{Kind: batch.Finish, Job: h})
		} else {
			j.state, j.at, j.home = "waiting", nil, nil
			w.tell(batch.Event{Kind: batch.Stopped, Job: h})
		}
		ended = !ended
	}
}

func (w *world) need(j *claim, l batch.NodeAllocation) (memory int64, cpu batch.Share) {
	if j.needs != nil {
		return j.needs[l.Group].Memory, j.needs[l.Group].CPU
	}
	memory, cpu = j.spec.Memory, j.spec.CPU
	if j.spec.Groups != nil {
		memory, cpu = j.spec.Groups[l.Group].Memory, j.spec.Groups[l.Group].CPU
	}
	return memory, cpu
}

// used sums the memory and CPU taken of a node, including jobs that are leaving.
func (w *world) used(node int32) (memory, share int64) {
	for _, j := range w.jobs {
		held := map[int32]int32{} // by group
		for _, l := range j.at {
			if l.Node == node {
				if m, _ := w.need(j, l); j.home == nil {
					memory += m * int64(l.Processors)
				}
				share += int64(l.Share) * int64(l.Processors)
				held[l.Group] = l.Processors
			}
		}
		for _, l := range j.old {
			if more := l.Processors - held[l.Group]; l.Node == node && more > 0 {
				if m, _ := w.need(j, l); j.home == nil {
					memory += m * int64(more)
				}
				share += int64(l.Share) * int64(more)
			}
		}
		for _, l := range j.home {
			if m, _ := w.need(j, l); l.Node == node {
				memory += m * int64(l.Processors)
			}
		}
	}
	return memory, share
}

func (w *world) pass() {
	for again := true; again; {
		again = false
		var out, same batch.Decisions
		w.p.Decide(w.now, &out)
		if w.twin != nil {
			w.twin.Decide(w.now, &same)
			if diff := cmp.Diff(out.List, same.List); diff != "" {
				w.t.Fatalf("at %d (-policy +copy):\n%s", w.now, diff)
			}
		}
		for _, d := range out.List {
			again = w.carryOut(&d) || again
			w.fits() // also in between: a driver executes decisions one by one
		}
		w.fits()
	}
	if err := w.p.(*dfrs.Policy).Books(); err != nil {
		w.t.Fatalf("at %d: %v\n%v", w.now, err, w.log)
	}
	w.settled()
	if wake := w.p.Wake(); wake <= w.now {
		w.t.Fatalf("at %d the policy requests a pass at %d", w.now, wake)
	}
	if w.meddle != nil {
		w.meddle(w)
	}
}

// fits checks that no node is overcommitted.
func (w *world) fits() {
	for n := range int32(len(w.platform.Nodes)) {
		memory, share := w.used(n)
		w.over[n] = min(w.over[n], memory)
		if memory > max(w.platform.Nodes[n].Memory, w.over[n]) ||
			share > int64(w.platform.Nodes[n].Processors)*int64(batch.One) {
			w.t.Fatalf("at %d node %d has %d bytes and %d shares taken\n%v", w.now, n, memory, share, w.log)
		}
	}
}

// carryOut executes a decision and reports whether it took effect at once.
func (w *world) carryOut(d *batch.Decision) (again bool) {
	w.log = append(w.log, fmt.Sprintf("%d %v %d %v", w.now, d.Kind, d.Job, d.Allocation))
	j := w.jobs[d.Job]
	from := map[batch.DecisionKind]string{
		batch.Start: "waiting", batch.Resume: "paused", batch.Pause: "running", batch.Migrate: "running",
		batch.SetShare: "running",
	}[d.Kind]
	if j == nil || j.state != from || j.lost || (d.Kind == batch.Migrate || d.Kind == batch.Pause) && j.old != nil {
		w.t.Fatalf("at %d %v of job %d, state %+v\n%v", w.now, d.Kind, d.Job, j, w.log)
	}
	if d.Kind == batch.Start && (w.failing[d.Job] || j.spec.EarliestStart > w.now) {
		if j.spec.EarliestStart > w.now {
			w.t.Fatalf("at %d job %d starts before %d", w.now, d.Job, j.spec.EarliestStart)
		}
		delete(w.failing, d.Job)
		w.tell(batch.Event{Kind: batch.StartFailed, Job: d.Job})
		return true
	}
	if j.home != nil && (d.Kind == batch.Migrate || d.Kind != batch.Pause && !slices.EqualFunc(d.Allocation, j.home,
		alike)) {
		w.t.Fatalf("at %d %v of job %d to %v, which must stay at %v\n%v", w.now, d.Kind, d.Job, d.Allocation, j.home,
			w.log)
	}
	places := slices.Clone(d.Allocation)
	switch d.Kind {
	case batch.Pause:
		j.state, j.old, j.at = "leaving", j.at, nil
		return false
	case batch.Migrate:
		j.old = j.at
	default:
		j.state = "running"
	}
	j.at = places
	j.begin()
	yields := map[int64]bool{}
	for _, l := range places {
		_, cpu := w.need(j, l)
		if j.old != nil {
			cpu = batch.One // measurements during a move count afterwards
		}
		if l.Share < 1 || l.Share > cpu || w.down[l.Node] {
			w.t.Fatalf("at %d job %d has %+v", w.now, d.Job, l)
		}
		if len(j.spec.Groups) == 0 {
			yields[int64(l.Share)] = true
		}
	}
	if len(yields) > 1 {
		w.t.Fatalf("at %d tasks of job %d have different shares: %v", w.now, d.Job, places)
	}
	return false
}

// wait advances time, with the passes that the policy requests.
func (w *world) wait(d batch.Duration) {
	until := w.now.Add(d)
	for w.p.Wake() <= until {
		w.now = w.p.Wake()
		w.pass()
	}
	w.now = until
}

func newWorld(t *rapid.T, platform batch.Platform, s batch.Settings) *world {
	p, err := dfrs.New(platform, s)
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t: t, p: p, platform: platform, jobs: map[batch.Handle]*claim{}, over: make([]int64, len(platform.Nodes)),
		down: map[int32]bool{}, failing: map[batch.Handle]bool{},
	}
}

func (w *world) play(list []step) []string {
	for _, s := range list {
		w.wait(batch.Duration(s.Gap) * batch.Second)
		w.do(s)
		w.pass()
	}
	w.resolve(false)
	for n := range int32(len(w.platform.Nodes)) {
		w.turn(n, step{Verb: "up"})
	}
	for _, verb := range []string{"confirm", "place"} {
		for range len(w.jobs) {
			state := map[string]string{"confirm": "incoming", "place": "held"}[verb]
			if h := w.pick(0, state); h != batch.NoJob {
				kind := map[string]batch.EventKind{"confirm": batch.Confirm, "place": batch.Place}[verb]
				w.tell(batch.Event{Kind: kind, Job: h, Restore: true, Shape: w.jobs[h].spec.Shape})
				w.jobs[h].state = "waiting"
			}
		}
	}
	for range 1000 {
		w.pass()
		if len(w.jobs) == 0 {
			return w.log
		}
		w.do(step{Verb: "stop", Option: true, Which: 1})
		w.pass()
		w.do(step{Verb: "finish"})
		w.wait(batch.Second)
	}
	w.t.Fatalf("%d jobs wait for ever:\n%v", len(w.jobs), w.log)
	return nil
}

func chaos(t *rapid.T) (batch.Platform, batch.Settings, []step) {
	platform := cluster(rapid.IntRange(1, 5).Draw(t, "nodes"), 10)
	all := append(dfrs.All(), dfrs.EquiPartition)
	a := rapid.SampledFrom(all).Draw(t, "algorithm")
	a.Bound /= 100
	s := batch.Settings{"algorithm": a.String(), "period": "5s"}
	if rapid.Bool().Draw(t, "beyond the paper") {
		s["priorities"] = "u:3"
		if a.Opt == dfrs.Min {
			s["decay"] = "3s"
		}
		if a.Submission == dfrs.MCB8 || a.Period != dfrs.NoPeriod {
			s["match"] = "true"
		}
	}
	return platform, s, steps().Draw(t, "steps")
}

func TestRandomEventsNeverExceedTheMachineAndEveryJobEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		platform, s, list := chaos(t)
		newWorld(t, platform, s).play(list)
	})
}

func TestForksDecideTheSameAndEstimatesHaveNoSideEffects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		platform, s, list := chaos(t)
		want := newWorld(t, platform, s).play(list)
		w := newWorld(t, platform, s)
		passes, at := 0, rapid.IntRange(0, 20).Draw(t, "fork at pass")
		var f forecast.Forecaster
		w.meddle = func(w *world) {
			if passes++; passes == at {
				w.twin = w.p.Fork()
			}
			out := make([]batch.Estimate, 1)
			ask := batch.Ask{
				Job:    &batch.Job{CPU: batch.One, Memory: 3},
				Shapes: []batch.Shape{{Width: 2, Walltime: 9 * batch.Second}},
			}
			f.Estimate(w.now, w.p, []batch.Ask{ask}, out)
			other := w.p.Fork()
			var none batch.Decisions
			for _, h := range slices.Sorted(maps.Keys(w.jobs)) {
				if j := w.jobs[h]; j.state == "running" || j.state == "leaving" {
					other.Apply(w.now, &batch.Event{Kind: batch.Finish, Job: h})
				} else {
					other.Apply(w.now, &batch.Event{Kind: batch.Cancel, Job: h})
				}
			}
			other.Decide(w.now, &none)
		}
		if diff := cmp.Diff(want, w.play(list)); diff != "" {
			t.Fatalf("-left alone +forked and asked:\n%s", diff)
		}
	})
}
