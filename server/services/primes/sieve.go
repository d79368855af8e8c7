package primes

import "math"

// segment is the size of a segment in numbers. Its odd numbers fit into a cache.
const segment = 1 << 19

// sieve counts primes segment by segment.
type sieve struct {
	below int
	odd   []uint32 // odd primes up to the root of below
	marks []bool   // whether each odd number of a segment is composite
}

func newSieve(below int) *sieve {
	root := int(math.Sqrt(float64(below))) + 1
	composite := make([]bool, root+1)
	s := &sieve{below: below, marks: make([]bool, segment/2)}
	for i := 3; i <= root; i += 2 {
		if composite[i] {
			continue
		}
		s.odd = append(s.odd, uint32(i))
		for k := i * i; k <= root; k += 2 * i {
			composite[k] = true
		}
	}
	return s
}

// take counts the primes of the segment at t.Next, a multiple of segment.
func (s *sieve) take(t *state) {
	low, high := t.Next, min(t.Next+segment, s.below)
	clear(s.marks)
	for _, prime := range s.odd {
		p := int(prime)
		if p*p >= high {
			break
		}
		first := max(p*p, (low+p-1)/p*p)
		if first%2 == 0 {
			first += p
		}
		for i := (first - low) / 2; i < len(s.marks); i += p {
			s.marks[i] = true
		}
	}
	if low == 0 {
		s.marks[0] = true // 1
		if s.below > 2 {
			t.add(2)
		}
	}
	for n := low + 1; n < high; n += 2 {
		if !s.marks[(n-low)/2] {
			t.add(n)
		}
	}
	t.Next = high
}
