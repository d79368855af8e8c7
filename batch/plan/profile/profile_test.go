package profile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// check compares all answers of a profile with the oracle and checks the invariants of the
// tree.
func check(t interface{ Fatalf(string, ...any) }, p *Profile, n *naive) {
	steps := 0
	last, free := Time(-1), int32(0)
	for at, f := range p.Steps {
		if at <= last && steps > 0 || steps > 1 && f == free {
			t.Fatalf("step at %d of %d after %d of %d", at, f, last, free)
		}
		if got := n.at(at); got != f {
			t.Fatalf("free at %d: %d, want %d", at, f, got)
		}
		last, free = at, f
		steps++
	}
	if steps-1 != p.Len() {
		t.Fatalf("Len %d, %d steps", p.Len(), steps-1)
	}
	for at := p.Origin(); at <= n.last(); at++ {
		if got, want := p.Free(at), n.at(at); got != want {
			t.Fatalf("Free(%d) = %d, want %d", at, got, want)
		}
	}
	if !p.small && p.tree.height > 0 {
		checkNode(t, &p.tree, p.tree.root, p.tree.height)
	}
}

func checkNode(t interface{ Fatalf(string, ...any) }, p *tree, at int32, level int) {
	n := &p.inners[at]
	if n.n == 0 {
		t.Fatalf("inner node %d is empty", at)
	}
	for k := range n.n {
		if level > 1 { // bottom-up, so the measures of the children are right
			checkNode(t, p, n.kids[k], level-1)
		}
		want := *n
		p.measure(&want, k, level-1)
		fresh := n.stale&(1<<k) == 0
		if want.sum[k] != n.sum[k] || fresh && (want.low[k] != n.low[k] || want.high[k] != n.high[k]) {
			t.Fatalf("node %d child %d: stale measures", at, k)
		}
		if level > 1 {
			continue
		}
		if l := &p.leaves[n.kids[k]]; l.n == 0 || k > 0 && l.time[0] < n.key[k] {
			t.Fatalf("leaf %d is empty or begins before its key", n.kids[k])
		}
	}
}

func TestAProfileAgreesWithAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const capacity = 12
		p, n := New(0, capacity), newNaive(capacity)
		p.limit = rapid.SampledFrom([]int{0, 40, arrayLimit}).Draw(t, "limit") // 0: a tree from the first change on
		when := rapid.Map(rapid.IntRange(0, horizon-1), func(i int) Time { return Time(i) })
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				start := when.Draw(t, "start")
				end := min(start+Time(rapid.IntRange(1, horizon).Draw(t, "length")), horizon)
				if rapid.IntRange(0, 9).Draw(t, "endless") == 0 {
					end = Never
				}
				width := int32(rapid.IntRange(1, capacity).Draw(t, "width"))
				if rapid.Bool().Draw(t, "release") {
					p.Release(start, end, width)
					n.change(start, end, width)
				} else {
					p.Reserve(start, end, width)
					n.change(start, end, -width)
				}
			},
			"move": func(t *rapid.T) {
				old := when.Draw(t, "old")
				to := Time(rapid.IntRange(0, int(old)).Draw(t, "to"))
				d, width := Duration(rapid.IntRange(1, horizon).Draw(t, "d")),
					int32(rapid.IntRange(1, capacity).Draw(t, "width"))
				p.Move(old, to, d, width)
				n.change(old, min(old.Add(d), horizon), width)
				n.change(to, min(to.Add(d), horizon), -width)
				// The oracle ends at the horizon, so no booking can exceed it.
				p.Release(horizon, max(horizon, to.Add(d)), width)
				p.Reserve(horizon, max(horizon, old.Add(d)), width)
			},
			"many": func(t *rapid.T) { // enough steps for inner nodes
				for range rapid.IntRange(1, 120).Draw(t, "count") {
					start := Time(rapid.IntRange(0, horizon-2).Draw(t, "start"))
					p.Reserve(start, start+1, 1)
					n.change(start, start+1, -1)
				}
			},
			"undo": func(t *rapid.T) { // back to one level, which removes steps
				for at := p.Origin(); at < horizon; at++ {
					d := p.Free(at) - capacity
					p.Reserve(at, at+1, d)
					n.change(at, at+1, -d)
				}
			},
			"trim": func(t *rapid.T) {
				now := min(p.Origin()+Time(rapid.IntRange(0, 20).Draw(t, "by")), horizon-1)
				p.Trim(now)
				n.origin = int(now)
			},
			"clone": func(*rapid.T) {
				old := p
				p = old.Clone()
				old.Reserve(0, horizon, 5) // must not affect the fork
				q := New(3, 1)
				q.CopyFrom(p)
				p = q
			},
			"fit": func(t *rapid.T) {
				from := when.Draw(t, "from")
				until := when.Draw(t, "until")
				if rapid.Bool().Draw(t, "any") {
					until = Never
				}
				d := Duration(rapid.IntRange(1, 80).Draw(t, "d"))
				width := int32(rapid.IntRange(-3, capacity+1).Draw(t, "width"))
				want := n.fit(from, until, d, width)
				if got := p.FitBefore(from, until, d, width); got != want {
					t.Fatalf("FitBefore(%d, %d, %d, %d) = %d, want %d", from, until, d, width, got, want)
				}
				latest := min(when.Draw(t, "latest"), until)
				if want >= latest {
					want = Never
				}
				if got := p.FitWithin(from, latest, until, d, width); got != want {
					t.Fatalf("FitWithin(%d, %d, %d, %d, %d) = %d, want %d", from, latest, until, d, width, got, want)
				}
			},
			"highest": func(t *rapid.T) {
				from := max(when.Draw(t, "from"), p.Origin())
				to := from + 1 + when.Draw(t, "length")
				most := n.at(from)
				for at := from; at < to; at++ {
					most = max(most, n.at(at))
				}
				if got := p.Highest(from, to); got != most {
					t.Fatalf("Highest(%d, %d) = %d, want %d", from, to, got, most)
				}
			},
			"lowest": func(t *rapid.T) {
				from := when.Draw(t, "from")
				to := max(from, p.Origin()) + 1 + when.Draw(t, "length")
				if got, want := p.Lowest(from, to), n.lowest(from, to); got != want {
					t.Fatalf("Lowest(%d, %d) = %d, want %d", from, to, got, want)
				}
			},
			"levels": func(t *rapid.T) {
				from := when.Draw(t, "from")
				levels := p.Levels(from, nil)
				for i, l := range levels {
					if i > 0 && (l.Free >= levels[i-1].Free || l.Until <= levels[i-1].Until) ||
						(l.Until == Never) != (i+1 == len(levels)) {
						t.Fatalf("Levels(%d) = %v", from, levels)
					}
					if got := n.lowest(from, min(l.Until, horizon+1)); got != l.Free {
						t.Fatalf("Levels(%d) = %v, but until %d %d are free", from, levels, l.Until, got)
					}
				}
				for _, l := range levels[:len(levels)-1] { // each has its maximal length
					if n.at(l.Until) >= l.Free {
						t.Fatalf("Levels(%d) = %v, but at %d %d are free", from, levels, l.Until, n.at(l.Until))
					}
				}
			},
			"sweep": func(t *rapid.T) {
				from := when.Draw(t, "from")
				sweepLikeFits(t, p, from)
			},
			"": func(t *rapid.T) { check(t, p, n) },
		})
	})
}

// sweepLikeFits draws shapes and compares Sweep with a Fit for each shape.
func sweepLikeFits(t *rapid.T, p *Profile, from Time) {
	var widths []int32
	w := int32(1)
	dense := rapid.Bool().Draw(t, "dense")
	for range rapid.IntRange(0, 14).Draw(t, "shapes") {
		widths = append(widths, w)
		if dense {
			w++
		} else {
			w += int32(rapid.IntRange(0, 3).Draw(t, "wider"))
		}
	}
	durations := make([]Duration, len(widths))
	d := Duration(120)
	falling := rapid.Bool().Draw(t, "falling")
	for i := range durations {
		if falling {
			d = max(1, d-Duration(rapid.IntRange(0, 30).Draw(t, "shorter")))
		} else {
			d = Duration(rapid.IntRange(1, 120).Draw(t, "d"))
		}
		durations[i] = d
	}
	starts := make([]Time, len(widths))
	var s Sweep
	for range 2 { // the second time with used scratch
		s.Starts(p, from, widths, durations, starts)
		for i := range widths {
			if want := p.Fit(from, durations[i], widths[i]); starts[i] != want {
				t.Fatalf("shape %d, %d for %d from %d: start %d, want %d", i, widths[i], durations[i], from, starts[i],
					want)
			}
		}
	}
}

// The tree has three inner levels. Most steps are removed again, at random positions and from
// the front.
func TestADeepTreeAgreesWithAnArray(t *testing.T) {
	const length = 120_000
	p, n := New(0, 50), newLongNaive(50, length)
	r := rand.New(rand.NewPCG(7, 7))
	type rectangle struct {
		start, end Time
		width      int32
	}
	var taken []rectangle
	for range 60_000 {
		s := Time(r.Int64N(length - 200))
		q := rectangle{s, s + 1 + Time(r.Int64N(150)), int32(1 + r.IntN(3))}
		p.Reserve(q.start, q.end, q.width)
		n.change(q.start, q.end, -q.width)
		taken = append(taken, q)
	}
	if p.tree.height < 3 {
		t.Fatalf("%d steps in %d inner levels; the test wants 3", p.Len(), p.tree.height)
	}
	searches := func() {
		for range 60 {
			from, d, w := Time(r.Int64N(length)), Duration(1+r.Int64N(400)), int32(r.IntN(52))
			if got, want := p.Fit(from, d, w), n.fit(from, Never, d, w); got != want {
				t.Fatalf("Fit(%d, %d, %d) = %d, want %d", from, d, w, got, want)
			}
		}
	}
	check(t, p, n)
	searches()
	for i, q := range taken[:55_000] {
		p.Release(q.start, q.end, q.width)
		n.change(q.start, q.end, q.width)
		if i%1000 == 0 {
			p.Trim(p.Origin() + 400)
			n.origin = int(p.Origin())
		}
	}
	check(t, p, n)
	searches()
	p.Trim(length - 500)
	n.origin = length - 500
	check(t, p, n)
}

func TestTimeSaturatesAtNever(t *testing.T) {
	if got := Time(5).Add(Forever); got != Never {
		t.Errorf("5+Forever = %d", got)
	}
	if got := Never.Sub(7); got != Forever {
		t.Errorf("Never-7 = %d", got)
	}
	if got := Duration(1).CeilSeconds(); got != Second {
		t.Errorf("1 µs rounds up to %v", got)
	}
	if got := (2 * Second).CeilSeconds(); got != 2*Second {
		t.Errorf("2 s rounds up to %v", got)
	}
	if got := Forever.CeilSeconds(); got != Forever {
		t.Errorf("Forever rounds up to %v", got)
	}
}

func TestTimesIsExactAndRoundsUp(t *testing.T) {
	edge := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(math.MaxInt64-9,
		math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		d, num, den := edge.Draw(t, "d"), edge.Draw(t, "num"), max(edge.Draw(t, "den"), 1)
		want := new(big.Int).Mul(big.NewInt(d), big.NewInt(num))
		want.Add(want, big.NewInt(den-1)).Div(want, big.NewInt(den))
		if !want.IsInt64() {
			want.SetInt64(int64(Forever))
		}
		if got := Duration(d).Times(num, den); int64(got) != want.Int64() {
			t.Fatalf("%d×%d/%d = %d, want %d", d, num, den, int64(got), want)
		}
	})
}

// 253,921 × 145,295,143,558,111 is 2^65-1. Half of that, rounded up before the comparison,
// would wrap to 0.
func TestTimesDoesNotWrapAround(t *testing.T) {
	if got := Duration(253_921).Times(145_295_143_558_111, 2); got != Forever {
		t.Errorf("got %d", int64(got))
	}
}

func TestMemoryOfRemovedNodesIsReused(t *testing.T) {
	p := New(0, 1000)
	p.limit = 0
	round := func() {
		for i := range Time(5000) {
			p.Reserve(i*2, i*2+1, 1)
		}
		for i := range Time(5000) {
			p.Release(i*2, i*2+1, 1)
		}
	}
	round()
	leaves, inners := len(p.tree.leaves), len(p.tree.inners)
	round()
	if len(p.tree.leaves) != leaves || len(p.tree.inners) != inners {
		t.Errorf("nodes grew from %d+%d to %d+%d", leaves, inners, len(p.tree.leaves), len(p.tree.inners))
	}
	if p.Len() != 0 || p.tree.height != 0 || p.tree.base != 1000 {
		t.Errorf("%d steps, height %d, base %d left", p.Len(), p.tree.height, p.tree.base)
	}
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte{0, 3, 9, 2, 1, 4, 9, 1, 2, 0, 0, 0, 3, 7, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, n := New(0, 20), newNaive(20)
		p.limit = len(data) % 8
		for ; len(data) >= 4; data = data[4:] {
			start, length, width := Time(data[1]), Time(data[2]), int32(data[3]%21)
			switch data[0] % 4 {
			case 0:
				p.Reserve(start, min(start+length, horizon), width)
				n.change(start, min(start+length, horizon), -width)
			case 1:
				p.Release(start, min(start+length, horizon), width)
				n.change(start, min(start+length, horizon), width)
			case 2:
				if start > p.Origin() {
					p.Trim(start)
					n.origin = int(start)
				}
			case 3:
				if got, want := p.Fit(start, Duration(length)+1, width), n.fit(start, Never, Duration(length)+1,
					width); got != want {
					t.Fatalf("Fit(%d, %d, %d) = %d, want %d", start, length+1, width, got, want)
				}
			}
		}
		check(t, p, n)
	})
}

// naive is the oracle: an array of the free capacity at each instant of a short horizon. The
// last element stands for all later instants.
type naive struct {
	origin int
	free   []int32
}

const horizon = 400

func newNaive(capacity int32) *naive { return newLongNaive(capacity, horizon) }

func newLongNaive(capacity int32, length int) *naive {
	n := &naive{free: make([]int32, length+1)}
	for i := range n.free {
		n.free[i] = capacity
	}
	return n
}

func (n *naive) change(start, end Time, delta int32) {
	for t := start; t < end && t <= n.last(); t++ {
		n.free[t] += delta
	}
}

func (n *naive) last() Time { return Time(len(n.free) - 1) }

func (n *naive) at(t Time) int32 { return n.free[min(max(t, Time(n.origin)), n.last())] }

func (n *naive) fit(from, until Time, d Duration, width int32) Time {
	for t := max(from, Time(n.origin)); t < until && t <= n.last(); t++ {
		ok := true
		for u := t; u < min(t.Add(d), until) && u <= n.last(); u++ {
			ok = ok && n.at(u) >= width
		}
		if ok {
			return t
		}
	}
	return Never
}

// lowest returns the least free capacity in [from, to).
func (n *naive) lowest(from, to Time) int32 {
	least := n.at(from)
	for t := max(from, Time(n.origin)); t < to && t <= n.last(); t++ {
		least = min(least, n.at(t))
	}
	return least
}

func TestUntilIsTheFirstInstantWithTooLittleCapacity(t *testing.T) {
	for _, limit := range []int{0, 4, arrayLimit} {
		rapid.Check(t, func(t *rapid.T) {
			const width, horizon = 8, 40
			p := New(0, width)
			p.limit = limit
			if limit == 0 {
				p.plant()
			}
			for range rapid.IntRange(0, 12).Draw(t, "rectangles") {
				start := Time(rapid.IntRange(0, horizon).Draw(t, "start"))
				end := start.Add(Duration(rapid.IntRange(1, 9).Draw(t, "length")))
				p.Reserve(start, end, rapid.Int32Range(1, 4).Draw(t, "width"))
			}
			p.Trim(Time(rapid.IntRange(0, 5).Draw(t, "trim")))
			from, w := Time(rapid.IntRange(0, horizon).Draw(t, "from")), rapid.Int32Range(1, width).Draw(t, "wanted")
			want := Never
			for at := max(from, p.Origin()); at <= 2*horizon; at++ {
				if p.Free(at) < w {
					want = at
					break
				}
			}
			if got := p.Until(from, w); got != want {
				t.Fatalf("until %d, want %d", got, want)
			}
		})
	}
}
