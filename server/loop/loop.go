// Package loop defines the order in which a server executes calls, makes their changes durable, and
// releases the effects. It is a core: the server drives it from one goroutine, and sim/faults
// drives it in simulated time with servers that are killed at every point.
//
//	          Turn                                      done(nil)
//	calls ──▶ Do, Do, ... ──▶ Tick ──▶ Take ──▶ Commit ─────────▶ Outlet, then Done(nil)
//	                                               │ done(err)
//	                                               └────────────▶ Undo, then Done(err)
//
// Nothing leaves the server before the records that allow it are durable: no answer, no
// command to the batch system, no claim and no message. Calls of one turn share one
// transaction. While a commit is in progress the core does nothing else, so what a call
// sees is either durable already or becomes durable before the call is answered.
package loop

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Call is a function for the core to run.
type Call struct {
	Do     func()
	Writes bool // it can change records
	// Done is called once, after Do if Do was called. Nil means that everything the core knew at
	// the end of Do is durable; an error means that Do was not called or was rolled back.
	Done func(err error)
}

// Store keeps the records that must outlive the server.
type Store interface {
	// Refuses returns why nothing can be written at the moment; nil if it can.
	Refuses(now batch.Time) error
	// Commit makes the records of the effects durable in one transaction, all of them or
	// none, and then calls done once: before it returns, or later.
	Commit(fx *site.Effects, done func(error))
	// Undo follows a failed Commit. It restores a core from the durable records and passes it to
	// Replace, or ends the server.
	Undo(why error)
}

// Outlet releases durable effects. Its methods are called in the order of their declaration.
type Outlet interface {
	Order(cmds []batch.Command)
	Claim(attempt batch.Key)
	Send(m *site.Message)
	Watch(jobs []batch.JobID)
	Discard(job batch.JobID)
	// Written is called for each record of the transaction.
	Written(w *site.Write)
}

// mostPlans bounds the plans that are kept for reuse of their memory: a restart has one for each
// waiting job.
const mostPlans = 4096

// Loop is the state between turns.
type Loop struct {
	core    *site.Site
	store   Store
	outlet  Outlet
	calls   []Call   // of the turn in progress
	next    []func() // to run in the next turn
	fx      site.Effects
	busy    bool
	stopped bool
}

// New returns the loop of a restored core.
func New(core *site.Site, store Store, outlet Outlet) *Loop {
	return &Loop{core: core, store: store, outlet: outlet}
}

// Busy reports whether a turn is in progress. There is one turn at a time.
func (l *Loop) Busy() bool { return l.busy }

// Later runs f in the next turn. It is for results that an Outlet finds.
func (l *Loop) Later(f func()) { l.next = append(l.next, f) }

// Wake returns the instant at which a turn is due even without calls; Never if there is
// none.
func (l *Loop) Wake() batch.Time {
	if len(l.next) > 0 {
		return 0
	}
	return l.core.Wake()
}

// Replace continues with another core, restored from the durable records. Functions passed to Later
// are dropped with the old core.
func (l *Loop) Replace(core *site.Site) { l.core, l.next = core, nil }

// Stop ends the loop, also in the middle of a turn: nothing more leaves through the Outlet.
func (l *Loop) Stop() { l.stopped = true }

// Turn runs calls and answers them when their changes are durable. It keeps calls until then. While
// the store refuses writes, calls that write are answered with the store's error, and nothing is
// committed.
func (l *Loop) Turn(now batch.Time, calls []Call) {
	if l.busy {
		panic("loop: a turn while another one is in progress")
	}
	l.busy, l.calls = true, calls
	refused := l.store.Refuses(now)
	for i := range calls {
		if refused == nil || !calls[i].Writes {
			calls[i].Do()
		}
	}
	if refused != nil {
		l.busy = false
		for i := range calls {
			if calls[i].Writes {
				calls[i].Done(refused)
			} else {
				calls[i].Done(nil)
			}
		}
		return
	}
	next := l.next
	l.next = nil
	for _, do := range next {
		do()
	}
	l.core.Tick(now)
	l.core.Take(now, &l.fx)
	l.store.Commit(&l.fx, l.committed)
}

// committed ends the turn.
func (l *Loop) committed(err error) {
	switch {
	case l.stopped:
		return
	case err != nil:
		l.store.Undo(err)
	default:
		for i := range l.fx.Writes {
			if w := &l.fx.Writes[i]; w.Dossier != nil {
				l.core.ReleaseDossier(w.Record.ID)
			}
		}
		if !l.release() {
			return
		}
	}
	if cap(l.fx.Plans) > mostPlans {
		l.fx = site.Effects{}
	}
	calls := l.calls
	l.busy, l.calls = false, nil
	for i := range calls {
		calls[i].Done(err) // reads, too: they can have seen changes that were rolled back
	}
}

// release releases the effects of the turn and reports whether the loop was not stopped.
func (l *Loop) release() bool {
	fx := &l.fx
	if len(fx.Plans) > 0 && !l.stopped {
		l.outlet.Order(fx.Plans)
	}
	if len(fx.Commands) > 0 && !l.stopped {
		l.outlet.Order(fx.Commands)
	}
	for i := 0; i < len(fx.Claims) && !l.stopped; i++ {
		l.outlet.Claim(fx.Claims[i])
	}
	for i := 0; i < len(fx.Messages) && !l.stopped; i++ {
		l.outlet.Send(&fx.Messages[i])
	}
	if len(fx.Watch) > 0 && !l.stopped {
		l.outlet.Watch(fx.Watch)
	}
	for i := 0; i < len(fx.Discard) && !l.stopped; i++ {
		l.outlet.Discard(fx.Discard[i])
	}
	for i := 0; i < len(fx.Writes) && !l.stopped; i++ {
		l.outlet.Written(&fx.Writes[i])
	}
	return !l.stopped
}
