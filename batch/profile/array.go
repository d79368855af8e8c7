package profile

// arrayLimit is the number of steps up to which a profile is an array: a search
// through so many costs less than the way down a tree, and so does moving them.
const arrayLimit = 256

// array is a profile of few steps: what is free from each of them on. The first
// step is the origin.
type array struct {
	time []Time
	free []int32
}

func (a *array) reset(origin Time, capacity int32) {
	a.time, a.free = append(a.time[:0], origin), append(a.free[:0], capacity)
}

// change adds delta to what is free from start until end. It is cheap where few
// steps lie between.
func (a *array) change(start, end Time, delta int32) {
	i := 0
	if start > a.time[0] {
		i = a.split(a.find(start), start)
	} else if end <= a.time[0] {
		return
	}
	j := len(a.time)
	if end != Never {
		k := i + 1
		for k < len(a.time) && a.time[k] < end {
			k++
		}
		j = a.split(k, end)
	}
	for k := i; k < j; k++ {
		a.free[k] += delta
	}
	if j < len(a.time) && a.free[j] == a.free[j-1] {
		a.remove(j)
	}
	if i > 0 && a.free[i] == a.free[i-1] {
		a.remove(i)
	}
}

// find returns the position of the first step at or after t.
func (a *array) find(t Time) int {
	const stride = 8
	i := 0
	for i+stride <= len(a.time) && a.time[i+stride-1] < t {
		i += stride
	}
	for i < len(a.time) && a.time[i] < t {
		i++
	}
	return i
}

// split makes t a step if it is none; i is the position of the first step at or
// after it, and the result that of t.
func (a *array) split(i int, t Time) int {
	if i < len(a.time) && a.time[i] == t {
		return i
	}
	a.time, a.free = append(a.time, 0), append(a.free, 0)
	copy(a.time[i+1:], a.time[i:])
	copy(a.free[i+1:], a.free[i:])
	a.time[i], a.free[i] = t, a.free[i-1]
	return i
}

func (a *array) remove(i int) {
	copy(a.time[i:], a.time[i+1:])
	copy(a.free[i:], a.free[i+1:])
	a.time, a.free = a.time[:len(a.time)-1], a.free[:len(a.free)-1]
}

// trimTo moves the origin forward to now.
func (a *array) trimTo(now Time) {
	k := 0 // the step that holds at now
	for k+1 < len(a.time) && a.time[k+1] <= now {
		k++
	}
	if k > 0 {
		a.time, a.free = a.time[:copy(a.time, a.time[k:])], a.free[:copy(a.free, a.free[k:])]
	}
	a.time[0] = now
}

// at returns the position of the step that holds at t, which is not before the
// origin.
func (a *array) at(t Time) int {
	i := a.find(t)
	if i == len(a.time) || a.time[i] > t {
		i--
	}
	return i
}

// fit is Profile.FitWithin.
func (a *array) fit(from, latest, until Time, d Duration, width int32) Time {
	i := 0
	if from > a.time[0] {
		i = a.at(from)
	}
	time, free := a.time, a.free[:len(a.time)]
	for start := from; start < latest; start = time[i] {
		for free[i] < width {
			if i++; i == len(time) || time[i] >= latest {
				return Never
			}
			start = time[i]
		}
		limit := min(start.Add(d), until)
		for i++; i < len(time) && free[i] >= width; i++ {
			if time[i] >= limit {
				return start
			}
		}
		if i == len(time) || time[i] >= limit {
			return start
		}
	}
	return Never
}

// highest is Profile.Highest.
func (a *array) highest(from, to Time) int32 {
	i := a.at(from)
	most := a.free[i]
	for i++; i < len(a.time) && a.time[i] < to; i++ {
		most = max(most, a.free[i])
	}
	return most
}
