package counted

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Turned is the effect of an event about a reservation on jobs outside it.
type Turned struct {
	Outside  bool       // there is an effect
	Broke    bool       // the reservation overlaps slots of other jobs
	From, To batch.Time // interval of freed capacity, if From is before To
}

// Turn applies an event about an advance reservation or a job in one, and reports whether
// the event is one. A policy calls it before it handles the event itself, Serve at the
// beginning of each pass, and NextServe in Wake. The profile then holds reservations like
// running jobs.
func (b *Base) Turn(now batch.Time, ev *batch.Event) (t Turned, mine bool) {
	switch ev.Kind {
	case batch.Submit, batch.Reserve, batch.Adopt:
		if ev.Spec.Window == nil && ev.Spec.Into == batch.NoJob {
			return t, false
		}
		return b.come(ev), true
	case batch.WindowOpen:
		b.open(b.window(ev.Job))
		return Turned{Outside: true}, true
	case batch.WindowClose:
		return b.close(now, ev.Job), true
	case batch.NodeUp, batch.NodeDown:
		for i := range b.windows {
			b.windows[i].stirred = true
		}
		return t, false
	}
	j := &b.jobs[ev.Job]
	switch {
	case j.State == Reserved:
		if ev.Kind != batch.Cancel {
			panic(fmt.Sprintf("counted: event %v for reservation %d", ev.Kind, ev.Job))
		}
		return b.close(now, ev.Job), true
	case j.within == batch.NoJob:
		return t, false
	}
	return b.turnInside(now, ev), true
}

// come adds a new reservation, or a new job of a reservation.
func (b *Base) come(ev *batch.Event) (t Turned) {
	if ev.Spec.Window != nil {
		return Turned{Outside: true, Broke: b.setAside(ev.Spec)}
	}
	w := b.window(ev.Spec.Into)
	if w == nil {
		panic(fmt.Sprintf("counted: job %d is for %d, which is not a reservation", ev.Spec.Handle, ev.Spec.Into))
	}
	h := ev.Spec.Handle
	j := b.admit(ev.Spec)
	j.within = ev.Spec.Into
	switch ev.Kind {
	case batch.Adopt: // a running job proves that the reservation has begun
		t.Outside = !w.Open
		b.open(w)
		b.beginInside(w, ev.Since, h)
		return t
	case batch.Reserve:
		j.State = Incoming
	default:
		j.State = Waiting
	}
	b.enter(h)
	return t
}

// turnInside applies an event about a job in a reservation.
func (b *Base) turnInside(now batch.Time, ev *batch.Event) (t Turned) {
	h := ev.Job
	j := &b.jobs[h]
	switch ev.Kind {
	case batch.Finish, batch.StartFailed:
		t.Outside = j.within == nowhere
		charge, end := b.stop(h)
		b.Profile.Release(now, end, charge)
		t.From, t.To = now, end
		if ev.Kind == batch.Finish {
			*j = Job{}
			return t
		}
		j.State = Waiting
		b.enter(h)
	case batch.Cancel:
		b.quit(h)
		*j = Job{}
	case batch.Hold:
		b.quit(h)
		j.State = Held
	case batch.Confirm:
		b.quit(h)
		j.State = Waiting
		b.enter(h)
	case batch.Place:
		b.quit(h)
		if !ev.Restore {
			b.seq++
			j.seq = b.seq
		}
		j.Charge, j.Walltime, j.State = b.ChargeOf(ev.Shape.Width, j.Spec.Memory), ev.Shape.Walltime, Waiting
		b.enter(h)
	default:
		panic(fmt.Sprintf("counted: event %v has no meaning here", ev.Kind))
	}
	return t
}
