package loop_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/loop"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// world is a store and an outlet that note what happens.
type world struct {
	t       *testing.T
	loop    *loop.Loop
	core    *site.Site
	notes   []string
	full    error
	pending func(error) // the commit in progress
}

func (w *world) note(words ...string) { w.notes = append(w.notes, strings.Join(words, " ")) }

func (w *world) Refuses(batch.Time) error { return w.full }

func (w *world) Commit(fx *site.Effects, done func(error)) {
	for i := range fx.Writes {
		w.note("commit", string(fx.Writes[i].Record.ID))
	}
	w.pending = done
}

func (w *world) Undo(why error) {
	w.note("undo:", why.Error())
	w.core = newCore(w.t)
	w.loop.Replace(w.core)
}

func (w *world) Order(cmds []batch.Command) { w.note("order", string(cmds[0].Key.Job)) }
func (w *world) Claim(key batch.Key)        { w.note("claim", string(key.Job)) }
func (w *world) Send(m *site.Message)       { w.note("send", string(m.Job)) }
func (w *world) Watch([]batch.JobID)        { w.note("watch") }
func (w *world) Discard(id batch.JobID)     { w.note("discard", string(id)) }
func (w *world) Written(r *site.Write)      { w.note("written", string(r.Record.ID)) }
func (w *world) end(err error)              { w.pending(err) }
func (w *world) want(t *testing.T, n ...string) {
	t.Helper()
	if !slices.Equal(w.notes, n) {
		t.Errorf("got %q, want %q", w.notes, n)
	}
	w.notes = nil
}

// idle is the plan of an empty machine.
type idle struct{}

func (idle) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	for i := range asks {
		starts := out[i].Grow(len(asks[i].Shapes))
		for k := range starts {
			starts[k] = now
		}
		out[i].Kind = batch.Promised
	}
	return true
}

func newCore(t *testing.T) *site.Site {
	t.Helper()
	core, err := site.New(site.Config{Name: "lyon", Platform: batch.Processors(4), Speed: catalogue.Reference})
	if err != nil {
		t.Fatal(err)
	}
	return core
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, core: newCore(t)}
	w.loop = loop.New(w.core, w, w)
	return w
}

// submit is a call that submits a job.
func (w *world) submit(id string) loop.Call {
	return loop.Call{
		Writes: true,
		Do: func() {
			request := &site.Request{Service: "work", Menu: []batch.Shape{{Width: 1, Walltime: batch.Minute}}}
			if _, err := w.core.Submit(0, site.Submission{ID: batch.JobID(id), Request: request}, idle{}); err != nil {
				w.t.Error(err)
			}
			w.note("do", id)
		},
		Done: w.answer(id),
	}
}

func (w *world) look() loop.Call {
	return loop.Call{Do: func() { w.note("look") }, Done: w.answer("look")}
}

func (w *world) answer(to string) func(error) {
	return func(err error) {
		if err != nil {
			w.note("answer", to+":", err.Error())
			return
		}
		w.note("answer", to)
	}
}

func TestNothingLeavesBeforeItIsDurable(t *testing.T) {
	w := newWorld(t)
	w.loop.Turn(1, []loop.Call{w.submit("a"), w.look(), w.submit("b")})
	w.want(t, "do a", "look", "do b", "commit a", "commit b")
	if !w.loop.Busy() {
		t.Error("the turn has ended before its commit")
	}
	w.end(nil)
	w.want(t, "order a", "written a", "written b", "answer a", "answer look", "answer b")
	if w.loop.Busy() {
		t.Error("the turn has not ended")
	}
}

func TestAFailedCommitIsUndoneAndEveryCallGetsItsError(t *testing.T) {
	w := newWorld(t)
	w.loop.Turn(1, []loop.Call{w.submit("a"), w.look()})
	w.loop.Later(func() { w.note("later") })
	w.end(errors.New("no room"))
	w.want(t, "do a", "look", "commit a", "undo: no room", "answer a: no room", "answer look: no room")
	w.loop.Turn(2, []loop.Call{w.submit("a")}) // the new core does not know it, and what was put off is gone
	w.end(nil)
	w.want(t, "do a", "commit a", "order a", "written a", "answer a")
}

func TestWhileTheStoreRefusesWritesOnlyReadsAreDone(t *testing.T) {
	w := newWorld(t)
	w.full = errors.New("full")
	w.loop.Turn(1, []loop.Call{w.submit("a"), w.look()})
	w.want(t, "look", "answer a: full", "answer look")
	if w.loop.Busy() {
		t.Error("a turn without a commit has not ended")
	}
}

func TestAStoppedLoopLetsNothingOut(t *testing.T) {
	w := newWorld(t)
	w.loop.Turn(1, []loop.Call{w.submit("a")})
	w.loop.Stop()
	w.end(nil)
	w.want(t, "do a", "commit a")
}

func TestWhatIsPutOffIsDoneInTheNextTurn(t *testing.T) {
	w := newWorld(t)
	if w.loop.Wake() != batch.Never {
		t.Errorf("an idle loop wakes at %d", w.loop.Wake())
	}
	w.loop.Later(func() { w.note("later") })
	if w.loop.Wake() != 0 {
		t.Errorf("the next turn is due at %d", w.loop.Wake())
	}
	w.loop.Turn(1, nil)
	w.end(nil)
	w.want(t, "later")
}
