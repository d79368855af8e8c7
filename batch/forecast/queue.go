package forecast

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/profile"
)

// room is what a job that stands last could have from at on, until the next
// room.
type room struct {
	at     batch.Time
	free   int32 // on the first level
	levels []profile.Level
}

// fits says whether a shape could start at t, an instant of this room.
func (r *room) fits(t batch.Time, charge int32, d batch.Duration) bool {
	end := t.Add(d)
	for i := range r.levels {
		if l := &r.levels[i]; charge > l.Free || end <= l.Until {
			return charge <= l.Free
		}
	}
	return false
}

// answer finds the first room of each shape at or after from, or of the one that
// ends first.
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
			if c > r.free { // and so are all that follow
				left = append(left, f.open[at:]...)
				break
			}
			if r.fits(t, c, a.Shapes[i].Walltime) {
				starts[i] = t
			} else {
				left = append(left, i)
			}
		}
		f.open = left
	}
}
