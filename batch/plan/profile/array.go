package profile

// arrayLimit is the number of steps up to which a profile is an array: searching and
// moving that many costs less than descending a tree.
const arrayLimit = 256

// array is a profile of few steps. The first step is the origin. A sentinel step at
// Never follows the last one and ends every search without a length check.
type array []step

// step is an instant and the free capacity from it until the next step.
type step struct {
	at   Time
	free int32
}

func (a *array) reset(origin Time, capacity int32) {
	*a = append((*a)[:0], step{origin, capacity}, step{at: Never})
}

// len returns the number of steps, including the origin.
func (a *array) len() int { return len(*a) - 1 }

// push appends a step.
func (a *array) push(t Time, free int32) {
	(*a)[a.len()] = step{t, free}
	*a = append(*a, step{at: Never})
}

// change adds delta to the free capacity from start until end. It returns the highest
// free capacity there now, and a position before which steps have not changed or lie
// before end. No step before the position from is later than start. Its cost is in the
// number of steps between start and end.
func (a *array) change(from int, start, end Time, delta int32) (most int32, next int) {
	i := 0
	if start > (*a)[0].at {
		i = a.split(a.find(from, start), start)
	} else if end <= (*a)[0].at {
		return 0, 0
	}
	s := *a
	j := i
	s[j].free += delta
	most = s[j].free
	for s[j+1].at < end {
		j++
		s[j].free += delta
		most = max(most, s[j].free)
	}
	if j++; s[j].at > end {
		a.insert(j, step{end, s[j-1].free - delta})
		s = *a
	}
	if j < len(s)-1 && s[j].free == s[j-1].free {
		a.remove(j)
	}
	if i > 0 && s[i].free == s[i-1].free {
		a.remove(i)
		j--
	}
	return most, j - 1
}

// find returns the position of the first step at or after t. No step before the position
// from is later than t. It searches in strides, because a binary search mispredicts
// every branch.
func (a *array) find(from int, t Time) int {
	const stride = 8
	s, i := *a, from
	for i+stride <= len(s) && s[i+stride-1].at < t {
		i += stride
	}
	for s[i].at < t {
		i++
	}
	return i
}

// split makes t a step if it is not one. i is the position of the first step at or after
// t; the result is the position of t.
func (a *array) split(i int, t Time) int {
	if s := *a; s[i].at != t {
		a.insert(i, step{t, s[i-1].free})
	}
	return i
}

func (a *array) insert(i int, x step) {
	s := append(*a, step{})
	copy(s[i+1:], s[i:])
	s[i] = x
	*a = s
}

func (a *array) remove(i int) { *a = append((*a)[:i], (*a)[i+1:]...) }

// trimTo moves the origin forward to now.
func (a *array) trimTo(now Time) {
	s := *a
	k := 0 // the step that holds at now
	for s[k+1].at <= now {
		k++
	}
	if k > 0 {
		s = s[:copy(s, s[k:])]
	}
	s[0].at = now
	*a = s
}

// holds returns the position of the last step at or before t, which is not before the
// origin.
func (a *array) holds(t Time) int {
	i := a.find(0, t)
	if i == a.len() || (*a)[i].at > t {
		i--
	}
	return i
}

// fit is Profile.FitWithin.
//
// One pass carries the start of the current run along. A step with too little capacity
// sets it to its own end by a conditional move, so only the end of the search is a
// branch.
func (a *array) fit(from, latest, until Time, d Duration, width int32) Time {
	s := *a
	if from > s[0].at {
		s = s[a.holds(from):]
	}
	start := from
	free := s[0].free
	for _, next := range s[1:] {
		if free < width {
			start = next.at
		}
		if Duration(next.at-start) >= d || next.at >= until {
			break
		}
		free = next.free
	}
	if start >= latest {
		return Never
	}
	return start
}

// highest is Profile.Highest.
func (a *array) highest(from, to Time) int32 {
	s := (*a)[a.holds(from):]
	most := s[0].free
	for _, x := range s[1:] {
		if x.at >= to {
			break
		}
		most = max(most, x.free)
	}
	return most
}

// lowest is Profile.Lowest.
func (a *array) lowest(from, to Time) int32 {
	s := (*a)[a.holds(from):]
	least := s[0].free
	for _, x := range s[1:] {
		if x.at >= to {
			break
		}
		least = min(least, x.free)
	}
	return least
}

// levels is Profile.Levels.
func (a *array) levels(from Time, out []Level) []Level {
	s := (*a)[a.holds(from):a.len()]
	least := s[0].free
	for _, x := range s[1:] {
		if x.free < least {
			out, least = append(out, Level{least, x.at}), x.free
		}
	}
	return append(out, Level{least, Never})
}
