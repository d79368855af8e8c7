package runtimes

import "slices"

// Distribution holds the newest ratios of one key. The zero Distribution is empty.
type Distribution struct {
	ring   []Ratio // in order of arrival, from next on
	sorted []Ratio
	next   int
}

// N returns the number of samples.
func (d *Distribution) N() int { return len(d.sorted) }

// add inserts a sample and drops the oldest beyond limit.
func (d *Distribution) add(r Ratio, limit int) {
	if len(d.ring) < limit {
		d.ring = append(d.ring, r)
	} else {
		at, _ := slices.BinarySearch(d.sorted, d.ring[d.next])
		d.sorted = slices.Delete(d.sorted, at, at+1)
		d.ring[d.next] = r
		d.next = (d.next + 1) % limit
	}
	at, _ := slices.BinarySearch(d.sorted, r)
	d.sorted = slices.Insert(d.sorted, at, r)
}

func (d *Distribution) clone() *Distribution {
	return &Distribution{ring: slices.Clone(d.ring), sorted: slices.Clone(d.sorted), next: d.next}
}

// Above returns the number of samples higher than r.
func (d *Distribution) Above(r Ratio) int {
	at, _ := slices.BinarySearch(d.sorted, r+1)
	if r == Longest {
		at = len(d.sorted)
	}
	return len(d.sorted) - at
}

// Within returns the lowest sample that at most a share chance of the samples above
// beyond exceed: a job that has already run beyond ends by then, except with probability
// chance. A beyond of -1 takes all samples. It returns false if no sample is above
// beyond.
func (d *Distribution) Within(chance Chance, beyond Ratio) (Ratio, bool) {
	left := d.Above(beyond)
	if left == 0 {
		return 0, false
	}
	fail := int(int64(chance) * int64(left) / int64(Certain))
	return d.sorted[len(d.sorted)-1-min(fail, left-1)], true
}

// Exceeds returns the share of the samples above beyond that are also above r: the
// probability that a job which has already run beyond runs longer than r. Without such
// samples it is Certain.
func (d *Distribution) Exceeds(r, beyond Ratio) Chance {
	left := d.Above(beyond)
	if left == 0 {
		return Certain
	}
	n := int64(d.Above(max(r, beyond))) * int64(Certain)
	return Chance((n + int64(left) - 1) / int64(left))
}

// Median returns the lowest sample that at most half of all samples exceed; 0 without
// samples.
func (d *Distribution) Median() Ratio {
	r, _ := d.Within(Certain/2, -1)
	return r
}
