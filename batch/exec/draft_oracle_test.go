package exec

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// step is an operation that can be applied to several worlds.
type step struct {
	kind    int // submit, leave, hold, advance
	id      batch.JobID
	request site.Request
	runtime batch.Duration
	pause   batch.Duration
}

func drawStep(t *rapid.T, n int) step {
	s := step{
		kind:  rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3}).Draw(t, "kind"),
		id:    batch.JobID(fmt.Sprint(rapid.IntRange(0, n).Draw(t, "of"))),
		pause: batch.Duration(rapid.IntRange(1, 20).Draw(t, "pause")) * batch.Second,
	}
	if s.kind == 0 {
		s.id, s.request = batch.JobID(fmt.Sprint(n)), drawRequest(t)
		s.runtime = batch.Duration(rapid.IntRange(1, 40).Draw(t, "runtime")) * batch.Second
		if rapid.IntRange(0, 5).Draw(t, "local") == 0 {
			s.request.Origin = batch.Local
		}
	}
	return s
}

func drawRequest(t *rapid.T) site.Request {
	r := site.Request{Service: "any"}
	width := int32(0)
	for range rapid.IntRange(1, 3).Draw(t, "shapes") {
		if width == worldWidth {
			break
		}
		width = rapid.Int32Range(width+1, worldWidth).Draw(t, "width")
		r.Menu = append(r.Menu,
			batch.Shape{
				Width: width, Walltime: batch.Duration(rapid.IntRange(1, 40).Draw(t, "walltime")) * batch.Second,
			})
	}
	return r
}

func (w *world) do(s *step) {
	switch s.kind {
	case 0:
		r := s.request
		if _, err := w.submit(s.id, &r, s.runtime); err != nil {
			w.Fatal(err)
		}
	case 1:
		w.leave(s.id)
	case 2:
		w.hold(s.id)
	case 3:
		w.until(w.now.Add(s.pause))
	}
	w.pass()
	for h := range w.jobs {
		if j := w.jobs[h]; j != nil {
			q, _ := w.standing(j.id)
			w.log = append(w.log, fmt.Sprintf("%s stands %+v", j.id, q))
		}
	}
}

// A draft answers like a second site to which the edits are really applied, also after the
// first site has advanced. The first site behaves like a third one without a draft.
func TestADraftPredictsTheSiteAndChangesNothing(t *testing.T) {
	for name, factory := range map[string]batch.Factory{"fcfs": fcfs.New, "easy": easy.New, "cbf": cbf.New} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				drawn, real, untouched := newWorld(t, factory), newWorld(t, factory), newWorld(t, factory)
				n := rapid.IntRange(1, 25).Draw(t, "before")
				for i := range n {
					s := drawStep(t, i)
					for _, w := range []*world{drawn, real, untouched} {
						w.do(&s)
					}
				}
				c := &comparison{T: t, draft: drawn.draft(), real: real, n: n}
				for i := range rapid.IntRange(1, 12).Draw(t, "edits and answers") {
					c.check()
					if s := drawStep(t, n+i); rapid.Bool().Draw(t, "goes on") {
						drawn.do(&s)
						untouched.do(&s)
					}
				}
				if diff := cmp.Diff(untouched.log, drawn.log); diff != "" {
					t.Fatalf("without drafts, with one: %s", diff)
				}
			})
		})
	}
}

// comparison compares a draft with a real site.
type comparison struct {
	*rapid.T
	draft *site.Draft
	real  *world
	n     int // numbers of jobs are below n, except for jobs from edits
	more  int
}

// check applies an edit or an estimate to both.
func (c *comparison) check() {
	any := batch.JobID(fmt.Sprint(rapid.IntRange(0, c.n).Draw(c.T, "job")))
	switch rapid.IntRange(0, 3).Draw(c.T, "what") {
	case 0: // several jobs leave at once
		for range rapid.IntRange(1, 4).Draw(c.T, "leave") {
			err, left := c.draft.Take(any), c.real.leave(any)
			if (err == nil) != left {
				c.Fatalf("taking job %s: %v; it leaves: %v", any, err, left)
			}
			any = batch.JobID(fmt.Sprint(rapid.IntRange(0, c.n+c.more).Draw(c.T, "job")))
		}
	case 1:
		c.put(any)
	case 2:
		c.stand()
	default:
		c.quotes()
	}
}

func (c *comparison) put(id batch.JobID) {
	if rapid.Bool().Draw(c.T, "from elsewhere") {
		c.more++
		id = batch.JobID(fmt.Sprint(c.n + c.more))
	}
	r := drawRequest(c.T)
	q := site.Question{Request: &r}
	really := r
	if rapid.IntRange(0, 2).Draw(c.T, "travels") == 0 {
		q.From = c.real.now.Add(batch.Duration(rapid.IntRange(0, 30).Draw(c.T, "for")) * batch.Second)
		if q.From > c.real.now { // only future instants are valid
			really.EarliestStart = q.From
		}
	}
	if c.real.byID[id] != nil {
		_, err := c.draft.Put(id, q)
		if problem.ReasonOf(err) != problem.JobConflict {
			c.Fatalf("job %s is put twice: %v", id, err)
		}
		return
	}
	if j, err := c.real.core.Job(id); err == nil && j.State.Final() {
		return // the job ran there, so the real submission would find it
	}
	got, err := c.draft.Put(id, q)
	want, failed := c.real.submit(id, &really, batch.Hour)
	if err != nil || failed != nil || got != want {
		c.Fatalf("put job %s: %+v, %v; really %+v, %v", id, got, err, want, failed)
	}
}

func (c *comparison) stand() {
	var ids []batch.JobID
	for i := range c.n + c.more + 1 {
		ids = append(ids, batch.JobID(fmt.Sprint(i)))
	}
	out := make([]site.Answer, len(ids))
	c.draft.Standing(ids, out)
	for i, id := range ids {
		want, waits := c.real.standing(id)
		reason := problem.ReasonOf(out[i].Err)
		if waits != (out[i].Err == nil) || out[i].Quote != want ||
			!waits && reason != problem.NotWaiting && reason != problem.UnknownJob {
			c.Fatalf("job %s stands %+v; really %+v, %v", id, out[i], want, waits)
		}
	}
}

func (c *comparison) quotes() {
	var qs []site.Question
	for range rapid.IntRange(1, 3).Draw(c.T, "questions") {
		r := drawRequest(c.T)
		qs = append(qs, site.Question{Request: &r})
	}
	got, want := make([]site.Answer, len(qs)), make([]site.Answer, len(qs))
	c.draft.Quotes(qs, got)
	c.real.core.Quotes(c.real.now, qs, want, c.real)
	if diff := cmp.Diff(want, got); diff != "" {
		c.Fatalf("really, in the draft: %s", diff)
	}
}
