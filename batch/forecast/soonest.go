package forecast

import (
	"sort"

	"github.com/seed-9b8f70bb/drover/batch"
)

// soonest returns the shape of the menu that ends first, and its start, which is
// Never if none can start. Of those that fit a room the widest ends first, and no
// room is looked at in which even the widest of all would end too late.
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
		n := f.fitting(r.free)
		if n > 0 && !r.fits(t, f.menu.Charges[n-1], f.menu.Walltimes[n-1]) {
			n = f.fitting(min(r.free, r.spare)) // the narrower ones run past the shadow time, too
		}
		if n == 0 {
			continue
		}
		if e := t.Add(f.menu.Walltimes[n-1]); start == batch.Never || e < end {
			shape, start, end = n-1, t, e
		}
	}
	return shape, start
}

// fitting returns how many shapes of the menu charge at most so much.
func (f *Forecaster) fitting(free int32) int {
	return sort.Search(len(f.menu.Charges), func(i int) bool { return f.menu.Charges[i] > free })
}
