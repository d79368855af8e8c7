package counted

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Turned is what an event about a reservation means for those who are not in it.
type Turned struct {
	Outside  bool       // anything at all
	Broke    bool       // it has been set aside where others have their places
	From, To batch.Time // the profile has got capacity back there, if From is before To
}

// Turn takes an event if it is about an advance reservation or a job in one, and
// says whether it is. A policy has to call it before it looks at the event itself,
// Serve at the beginning of each pass and NextServe in Wake; the profile then has
// reservations like running jobs.
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

// come is for who has not been here.
func (b *Base) come(ev *batch.Event) (t Turned) {
	if ev.Spec.Window != nil {
		return Turned{Outside: true, Broke: b.setAside(ev.Spec)}
	}
	w := b.window(ev.Spec.Into)
	if w == nil {
		panic(fmt.Sprintf("counted: job %d is for %d, which is no reservation", ev.Spec.Handle, ev.Spec.Into))
	}
	h := ev.Spec.Handle
	j := b.admit(ev.Spec)
	j.within = ev.Spec.Into
	switch ev.Kind {
	case batch.Adopt: // that it runs shows that the reservation has begun
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

// turnInside takes an event about a job of a reservation.
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
