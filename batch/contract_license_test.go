package batch_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// unlike starts jobs in submission order. Each job gets a whole machine: the free one with
// the highest score that has its node-locked licenses, as soon as copies of its floating
// licenses are free.
type unlike struct {
	toy
	platform batch.Platform
}

func newUnlike(p batch.Platform) *unlike { return &unlike{toy{jobs: map[batch.Handle]*toyJob{}}, p} }

func (u *unlike) Apply(_ batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		u.submit(ev.Spec)
	case batch.Finish:
		u.forget(ev.Job)
	default:
		panic(ev.Kind)
	}
}

func (u *unlike) copies(name string) (copies int32, floating bool) {
	for _, pool := range u.platform.Licenses {
		if pool.Name == name {
			copies, floating = pool.Copies, true
		}
	}
	for _, j := range u.jobs {
		for _, l := range j.spec.Licenses {
			if j.state == "running" && l.Name == name {
				copies -= l.Copies
			}
		}
	}
	return copies, floating
}

// machine returns the machine on which a job can start now, or -1.
func (u *unlike) machine(spec *batch.Job) int32 {
	best := int32(-1)
	for n := range int32(len(u.platform.Nodes)) {
		node := &u.platform.Nodes[n]
		ok := len(u.on(n, "running")) == 0
		for _, l := range spec.Licenses {
			if free, floating := u.copies(l.Name); floating {
				ok = ok && free >= l.Copies
			} else {
				ok = ok && slices.Contains(node.Licenses, l.Name)
			}
		}
		if ok && (best < 0 || node.Score > u.platform.Nodes[best].Score) {
			best = n
		}
	}
	return best
}

func (u *unlike) Decide(_ batch.Time, out *batch.Decisions) {
	for _, h := range slices.Clone(u.waiting) {
		j := u.jobs[h]
		if n := u.machine(j.spec); n >= 0 {
			j.node, j.state = n, "running"
			u.leave(h)
			out.Add(batch.Start, h, batch.NodeAllocation{Node: n, Processors: 1, Share: batch.One})
		}
	}
}

func (u *unlike) Wake() batch.Time { return batch.Never }

// Estimate answers only for jobs that can start now; their ends depend on the machine.
func (u *unlike) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	for i, a := range asks {
		starts := out[i].Grow(len(a.Shapes))
		out[i].Kind = batch.Forecast
		for k, s := range a.Shapes {
			starts[k] = batch.Never
			end := batch.Never
			if n := u.machine(a.Job); n >= 0 && s.Width == 1 {
				starts[k] = now
				end = now.Add(s.Walltime * batch.Duration(a.Job.Reference) / batch.Duration(u.platform.Nodes[n].Score))
			}
			out[i].Ends = append(out[i].Ends, end)
		}
	}
	return nil
}

func (u *unlike) Fork() batch.Policy { return &unlike{u.fork(), u.platform} }

// office has a medium and a slow machine with cad, a fast one without it, and one floating
// copy of sim.
func office() batch.Platform {
	return batch.Platform{
		Nodes: []batch.Node{
			{Processors: 1, Score: 100, Licenses: []string{"cad"}},
			{Processors: 1, Score: 200},
			{Processors: 1, Score: 50, Licenses: []string{"cad"}},
		},
		Licenses: []batch.LicensePool{{Name: "sim", Copies: 1}},
	}
}

func licensed(h batch.Handle, reference int32, names ...string) batch.Job {
	j := job(h, 0)
	j.Reference = reference
	for _, name := range names {
		j.Licenses = append(j.Licenses, batch.License{Name: name, Copies: 1})
	}
	return j
}

// By hand: job 1 gets the better cad machine. Job 2 gets the fast machine, twice as fast, and
// the copy of sim. Job 3 waits for the copy and then gets the same machine. Job 4 gets the
// slow cad machine, half as fast. Job 5 was measured on a machine of score 300: from 10 on
// it runs at 200/300 = 699050 of 2^20, so 3 s take 4.500004... s, rounded up.
func TestJobsRunOnUnlikeMachinesWithLicenses(t *testing.T) {
	perform(t, newUnlike(office()), office(), []act{
		submit(0, licensed(1, 100, "cad"), 10), submit(0, licensed(2, 100, "sim"), 10),
		submit(0, licensed(3, 100, "sim"),
			10),
		submit(0, licensed(4, 100, "cad"), 10), submit(0, licensed(5, 300), 3),
	}, "#2 n1 0-5", "#1 n0 0-10", "#3 n1 5-10", "#5 n1 10-14.500005", "#4 n2 0-20")
}

func TestEstimatesOnUnlikeMachinesContainTheEnd(t *testing.T) {
	u := newUnlike(office())
	cad, sim, none := licensed(1, 100, "cad"), licensed(2, 100, "sim"), licensed(3, 0, "other")
	shapes := []batch.Shape{{Width: 1, Walltime: 10 * batch.Second}, {Width: 2, Walltime: 5 * batch.Second}}
	out := make([]batch.Estimate, 3)
	u.Estimate(0, []batch.Ask{{Job: &cad, Shapes: shapes}, {Job: &sim, Shapes: shapes}, {Job: &none, Shapes: shapes}},
		out)
	var got []batch.Time
	for i := range out {
		for k, s := range shapes {
			got = append(got, out[i].End(k, s.Walltime))
		}
	}
	if diff := cmp.Diff([]batch.Time{secs(10), batch.Never, secs(5), batch.Never, batch.Never, batch.Never},
		got); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
}
