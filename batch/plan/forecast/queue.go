package forecast

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// room is the capacity for a job at the end of the queue from at until the next room:
// the free processors until the shadow time, or the spare ones for ever. Beside slots
// that must be kept there can be further levels in between.
type room struct {
	at       batch.Time
	free     int32
	spare    int32
	shadow   batch.Time
	from, to int32 // of the front's levels
}

// newRoom makes a room from the levels that a queue has appended at from.
func newRoom(at batch.Time, levels []profile.Level, from int) room {
	first, last := levels[from], levels[len(levels)-1]
	r := room{at: at, free: first.Free, spare: last.Free, shadow: first.Until}
	if len(levels)-from > 2 {
		r.from, r.to = int32(from+1), int32(len(levels)-1)
	}
	return r
}

// fits reports whether a shape can start at t, an instant of this room.
func (fr *front) fits(r *room, t batch.Time, charge int32, d batch.Duration) bool {
	return r.fits(t, charge, d) || r.from < r.to && fr.between(r, t.Add(d), charge)
}

func (r *room) fits(t batch.Time, charge int32, d batch.Duration) bool {
	return charge <= r.free && (charge <= r.spare || t.Add(d) <= r.shadow)
}

// between is fits for the levels between the first and the last one.
func (fr *front) between(r *room, end batch.Time, charge int32) bool {
	for _, l := range fr.levels[r.from:r.to] {
		if charge > l.Free || end <= l.Until {
			return charge <= l.Free
		}
	}
	return false
}

// answer finds the first room of each shape at or after from, or only that of the shape
// that ends first.
func (f *Forecaster) answer(from batch.Time, q Queue, a *batch.Ask, out *batch.Estimate) {
	if a.Best {
		f.menu.Take(a, q.ChargeOf)
		shape, start := f.soonest(max(from, a.From, a.Job.EarliestStart))
		f.menu.Answer(a, shape, start, out)
		return
	}
	starts := out.Grow(len(a.Shapes))
	f.open, f.charges = f.open[:0], f.charges[:0]
	for i, s := range a.Shapes {
		starts[i] = batch.Never
		f.open = append(f.open, int32(i))
		f.charges = append(f.charges, q.ChargeOf(s.Width, a.Job.Memory))
	}
	from = max(from, a.From, a.Job.EarliestStart)
	rooms := f.front.rooms
	for k := range rooms {
		r := &rooms[k]
		if len(f.open) == 0 {
			return
		}
		if k+1 < len(rooms) && rooms[k+1].at <= from || f.charges[f.open[0]] > r.free {
			continue
		}
		t, left := max(r.at, from), f.open[:0]
		for at, i := range f.open {
			c := f.charges[i]
			if c > r.free { // so are all wider ones
				left = append(left, f.open[at:]...)
				break
			}
			if d := a.Shapes[i].Walltime; r.fits(t, c, d) || r.from < r.to && f.front.between(r, t.Add(d), c) {
				starts[i] = t
			} else {
				left = append(left, i)
			}
		}
		f.open = left
	}
}
