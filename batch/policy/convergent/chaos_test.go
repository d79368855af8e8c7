package convergent_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
)

// step is a random action. Its target is chosen when it runs.
type step struct {
	Verb             string
	Which, Gap       int
	Width, Memory    int
	Length, By       int
	Cad, Sim         bool
	Resident, Option bool
	Reference        int32
}

var verbs = []string{
	"submit", "submit", "submit", "submit", "later", "reserve", "confirm", "hold", "place", "cancel", "fail", "adopt",
	"finish", "finish", "finish", "stop", "stop", "stop", "stop", "stop", "down", "up", "wait", "wait",
}

func steps() *rapid.Generator[[]step] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		b := rapid.Bool()
		return step{
			rapid.SampledFrom(verbs).Draw(t, "verb"), rapid.IntRange(0, 99).Draw(t, "which"),
			rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "gap"), rapid.IntRange(1, 4).Draw(t, "width"),
			rapid.IntRange(0, 5).Draw(t, "memory"), rapid.IntRange(1, 30).Draw(t, "length"),
			rapid.IntRange(0, 40).Draw(t, "by"), b.Draw(t, "cad"), b.Draw(t, "sim"), b.Draw(t, "resident"),
			b.Draw(t, "option"), rapid.SampledFrom([]int32{0, 100, 300}).Draw(t, "reference"),
		}
	}), 1, 60)
}

// claim is a job in a live driver, where a job that must leave takes its time.
type claim struct {
	spec  *batch.Job
	state string // waiting, held, incoming, running, leaving, paused
	node  int32  // of jobs that run or leave
	home  int32  // where it was paused
	lost  bool   // its node is down, and its outcome is not reported yet
}

// world is a driver that stops jobs slowly, and checks all decisions.
type world struct {
	t        *rapid.T
	p, twin  batch.Policy
	preempts bool
	platform batch.Platform
	now      batch.Time
	jobs     map[batch.Handle]*claim
	next     batch.Handle
	down     map[int32]bool
	failing  map[batch.Handle]bool
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
	spec := &batch.Job{
		Handle: w.next, Memory: int64(s.Memory), Shape: batch.Shape{
			Width: int32(s.Width), Walltime: batch.Duration(s.Length) * batch.Second,
		},
		Reference: s.Reference, Checkpoint: true, Resident: s.Resident, Site: "m1", Input: int64(s.Which),
	}
	if s.By > 0 {
		spec.Deadline = w.now + batch.Time(s.By)*second
	}
	for name, wanted := range map[string]bool{"cad": s.Cad, "sim": s.Sim} {
		if wanted {
			spec.Licenses = append(spec.Licenses, batch.License{Name: name, Copies: 1 + int32(s.Which%2)})
		}
	}
	slices.SortFunc(spec.Licenses, func(a, b batch.License) int {
		return len(a.Name+a.Name) - len(b.Name) + int(a.Name[0]) - int(b.Name[0])
	})
	if s.Verb == "later" {
		spec.EarliestStart = w.now + batch.Time(s.Which%9)*second
	}
	if validate(w.platform, spec, w.now) != nil {
		spec.Memory, spec.Licenses, spec.Shape.Width = 0, nil, 1
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
		if w.holder(node) == batch.NoJob && !w.down[node] {
			spec := w.spec(s)
			spec.Licenses, spec.Memory, spec.Shape.Width = nil, 0, 1
			w.jobs[spec.Handle] = &claim{spec: spec, state: "running", node: node}
			at := []batch.NodeAllocation{{Node: node, Processors: 1, Share: batch.One}}
			w.tell(batch.Event{Kind: batch.Adopt, Job: spec.Handle, Spec: spec, Since: max(0, w.now-9), Allocation: at})
		}
	case "confirm":
		move(batch.Confirm, "waiting", "incoming")
	case "hold":
		move(batch.Hold, "held", "waiting", "incoming")
	case "place":
		move(batch.Place, "waiting", "held", "waiting")
	case "cancel":
		move(batch.Cancel, "", "waiting", "held", "incoming", "paused")
	case "fail":
		w.failing[w.pick(s.Which, "waiting")] = true
	case "finish":
		move(batch.Finish, "", "running", "leaving")
	case "stop":
		w.stop(s)
	case "down", "up":
		w.turn(node, s)
	}
}

func (w *world) memory(j *claim) int64 { return j.spec.Memory * int64(j.spec.Shape.Width) }

// resident returns the memory of a node that other jobs keep while they are paused there.
func (w *world) resident(but batch.Handle, node int32) (memory int64) {
	for h, j := range w.jobs {
		if h != but && j.spec.Resident && j.home == node && j.state == "paused" {
			memory += w.memory(j)
		}
	}
	return memory
}

// holder returns the job that holds a node.
func (w *world) holder(node int32) batch.Handle {
	for h, j := range w.jobs {
		if (j.state == "running" || j.state == "leaving") && j.node == node {
			return h
		}
	}
	return batch.NoJob
}

// stop ends the stopping of a job, on request or on its own.
func (w *world) stop(s step) {
	h := w.pick(s.Which, "leaving")
	if h == batch.NoJob && s.Which%5 == 0 {
		h = w.pick(s.Which, "running")
	}
	if h == batch.NoJob {
		return
	}
	j := w.jobs[h]
	j.state, j.home = "paused", j.node
	if !s.Option {
		j.state = "waiting"
	}
	w.tell(batch.Event{Kind: batch.Stopped, Job: h, Checkpoint: s.Option})
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
		for _, j := range w.jobs {
			if j.node == node {
				j.lost = false // it has been running all along
			}
		}
		w.down[node] = false
		w.tell(batch.Event{Kind: batch.NodeUp, Node: node})
		return
	}
	w.down[node] = true
	w.tell(batch.Event{Kind: batch.NodeDown, Node: node})
	for _, j := range w.jobs {
		j.lost = j.lost || (j.state == "running" || j.state == "leaving") && j.node == node
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
			j.state = "waiting"
			w.tell(batch.Event{Kind: batch.Stopped, Job: h})
		}
		ended = !ended
	}
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
		}
		w.check()
	}
	if wake := w.p.Wake(); wake <= w.now {
		w.t.Fatalf("at %d the policy requests a pass at %d", w.now, wake)
	}
	if w.meddle != nil {
		w.meddle(w)
	}
}

// check counts licenses, including those of leaving and lost jobs.
func (w *world) check() {
	taken := map[string]int32{}
	for _, j := range w.jobs {
		if j.state == "running" || j.state == "leaving" {
			for _, l := range j.spec.Licenses {
				taken[l.Name] += l.Copies
			}
		}
	}
	for _, pool := range w.platform.Licenses {
		if taken[pool.Name] > pool.Copies {
			w.t.Fatalf("at %d %d copies of %s are taken\n%v", w.now, taken[pool.Name], pool.Name, w.log)
		}
	}
}

// carryOut executes a decision and reports whether it took effect at once.
func (w *world) carryOut(d *batch.Decision) (again bool) {
	w.log = append(w.log, fmt.Sprintf("%d %v %d %v", w.now, d.Kind, d.Job, d.Allocation))
	j := w.jobs[d.Job]
	from := map[batch.DecisionKind]string{
		batch.Start: "waiting", batch.Resume: "paused", batch.Pause: "running",
	}[d.Kind]
	if j == nil || j.state != from || j.lost || d.Kind == batch.Pause && !w.preempts {
		w.t.Fatalf("at %d %v of job %d, state %+v\n%v", w.now, d.Kind, d.Job, j, w.log)
	}
	if d.Kind == batch.Pause {
		j.state = "leaving"
		return false
	}
	l := d.Allocation[0]
	node := &w.platform.Nodes[l.Node]
	bad := len(d.Allocation) != 1 || l.Processors != j.spec.Shape.Width || l.Processors > node.Processors ||
		l.Share != batch.One || w.down[l.Node] ||
		w.holder(l.Node) != batch.NoJob || node.Memory > 0 && w.memory(j) > node.Memory-w.resident(d.Job, l.Node) ||
		j.spec.EarliestStart > w.now
	for _, license := range j.spec.Licenses {
		bad = bad || license.Name == "cad" && !slices.Contains(node.Licenses, "cad")
	}
	if bad || d.Kind == batch.Resume && j.spec.Resident && l.Node != j.home {
		w.t.Fatalf("at %d job %d, %+v, goes to %+v\n%v", w.now, d.Job, j, d.Allocation, w.log)
	}
	if d.Kind == batch.Start && w.failing[d.Job] {
		delete(w.failing, d.Job)
		w.tell(batch.Event{Kind: batch.StartFailed, Job: d.Job})
		return true
	}
	j.state, j.node = "running", l.Node
	if d.Kind == batch.Resume {
		w.tell(batch.Event{Kind: batch.Resumed, Job: d.Job})
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
	for range len(w.jobs) {
		w.do(step{Verb: "confirm"})
		if h := w.pick(0, "held"); h != batch.NoJob {
			w.tell(batch.Event{Kind: batch.Place, Job: h, Restore: true, Shape: w.jobs[h].spec.Shape})
			w.jobs[h].state = "waiting"
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

func newWorld(t *rapid.T, platform batch.Platform, s batch.Settings) *world {
	p, err := convergent.New(platform, s)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := convergent.ParseAlgorithm(s["algorithm"])
	return &world{
		t: t, p: p, preempts: a.Preempts(), platform: platform, jobs: map[batch.Handle]*claim{}, down: map[int32]bool{},
		failing: map[batch.Handle]bool{},
	}
}

// chaos draws a farm, settings and steps. cad is floating and runs on some machines; sim is
// floating and runs on all.
func chaos(t *rapid.T) (batch.Platform, batch.Settings, []step) {
	p := batch.Platform{Licenses: []batch.LicensePool{
		{Name: "cad", Copies: int32(rapid.IntRange(0, 2).Draw(t, "cad"))},
		{Name: "sim", Copies: int32(rapid.IntRange(1, 3).Draw(t, "sim"))},
	}}
	for m := range rapid.IntRange(1, 5).Draw(t, "machines") {
		n := batch.Node{
			Name: fmt.Sprint("m", m), Processors: int32(rapid.IntRange(1, 4).Draw(t, "processors")),
			Score: rapid.SampledFrom([]int32{100, 200, 350}).Draw(t, "score"),
		}
		n.Memory = rapid.SampledFrom([]int64{0, 8}).Draw(t, "memory")
		if m == 0 || rapid.Bool().Draw(t, "runs cad") {
			n.Licenses = []string{"cad"}
		}
		p.Nodes = append(p.Nodes, n)
	}
	s := batch.Settings{"algorithm": rapid.SampledFrom(algorithms).Draw(t, "algorithm")}
	a, _ := convergent.ParseAlgorithm(s["algorithm"])
	if a.Convergent() && rapid.Bool().Draw(t, "beyond the paper") {
		s["avoid"], s["refill"] = "true", "true"
		if a.Incremental() {
			s["matching"] = "renew"
		}
	}
	if a == convergent.EDF && rapid.Bool().Draw(t, "anew") {
		s["anew"] = "true"
	} else if a == convergent.EDF {
		s["order"] = rapid.SampledFrom(edf.Orders).Draw(t, "order")
	}
	return p, s, steps().Draw(t, "steps")
}

func TestRandomEventsNeverExceedTheFarmAndEveryJobEnds(t *testing.T) {
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
			if passes > 10 {
				return // forecasts are slow
			}
			out := make([]batch.Estimate, 1)
			asked := job(0, 9, 0)
			f.Estimate(w.now, w.p,
				[]batch.Ask{{Job: &asked, Shapes: []batch.Shape{{Width: 1, Walltime: 9 * batch.Second}}}}, out)
			other := w.p.Fork()
			var none batch.Decisions
			for _, h := range slices.Sorted(maps.Keys(w.jobs)) {
				if j := w.jobs[h]; j.state == "running" || j.state == "leaving" {
					other.Apply(w.now, &batch.Event{Kind: batch.Finish, Job: h})
				}
			}
			other.Decide(w.now+1, &none)
		}
		if diff := cmp.Diff(want, w.play(list)); diff != "" {
			t.Fatalf("(-left alone +forked and asked):\n%s", diff)
		}
	})
}
