package forecast

import (
	"sort"

	"github.com/seed-9b8f70bb/drover/batch"
)

// soonest returns the shape of the menu that ends first and its start, Never if none can
// start. Among shapes that fit a room the widest ends first; rooms in which even the
// widest of all would end too late are skipped.
func (f *Forecaster) soonest(from batch.Time) (shape int, start batch.Time) {
	start = batch.Never
	if len(f.menu.Charges) == 0 {
		return 0, start
	}
	end, shortest := batch.Never, f.menu.Walltimes[len(f.menu.Walltimes)-1]
	rooms := f.front.rooms
	for k := range rooms {
		if k+1 < len(rooms) && rooms[k+1].at <= from {
			continue
		}
		r := &rooms[k]
		t := max(r.at, from)
		if start != batch.Never && t.Add(shortest) >= end {
			break
		}
		n := f.widest(t, r)
		if n == 0 {
			continue
		}
		if e := t.Add(f.menu.Walltimes[n-1]); start == batch.Never || e < end {
			shape, start, end = n-1, t, e
		}
	}
	return shape, start
}

// widest returns the number of shapes of the menu up to the widest that can start at t. If
// the widest of a level runs past its end, narrower ones do so too.
func (f *Forecaster) widest(t batch.Time, r *room) int {
	n := f.fitting(r.free)
	if n == 0 || f.front.fits(r, t, f.menu.Charges[n-1], f.menu.Walltimes[n-1]) {
		return n
	}
	for _, l := range f.front.levels[r.from:r.to] {
		if n = f.fitting(l.Free); n == 0 || t.Add(f.menu.Walltimes[n-1]) <= l.Until {
			return n
		}
	}
	return f.fitting(min(r.free, r.spare))
}

// fitting returns the number of shapes of the menu with at most the given charge.
func (f *Forecaster) fitting(free int32) int {
	return sort.Search(len(f.menu.Charges), func(i int) bool { return f.menu.Charges[i] > free })
}
