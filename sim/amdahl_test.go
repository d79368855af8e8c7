package sim

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// paperTypes are the paper's four, ready to be drawn.
func paperTypes(t testing.TB) []moldableType {
	t.Helper()
	types, errs := (&Moldable{}).parse()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return types
}

// By hand, with S(n) the speedup and w1 the walltime on one processor:
//
//	t1: S(4) = 1/(0.2+0.2) = 2.5, w1 = 3600 × 2.5 = 9000; S(8) = 1/0.3: 2700; S(32) = 1/0.225: 2025
//	t2: S(2) = 1/0.55, w1 = 1000/0.55 = 1818.18; S(96) = 1/0.109375: 198.86
//	t3: S(100) = 1/0.0199, w1 = 60/0.0199 = 3015.08; S(256) = 1/0.0138671875: 41.81
//	t4: S(128) = 1/(0.001+0.0078046875) = 113.576, w1 = 100 × that; S(650): 28.81
func TestWalltimesOfEachTypeMatchHandCalculation(t *testing.T) {
	types := paperTypes(t)
	for _, c := range []struct {
		kind     int
		walltime batch.Duration
		traced   int32
		want     map[int32]batch.Duration // by width
		last     int32
	}{
		{1, 3600, 4, map[int32]batch.Duration{1: 9000, 2: 5400, 4: 3600, 8: 2700, 32: 2025}, 32},
		{2, 1000, 2, map[int32]batch.Duration{1: 1819, 2: 1000, 96: 199}, 96},
		{3, 60, 100, map[int32]batch.Duration{1: 3016, 100: 60, 256: 42}, 256},
		{4, 100, 128, map[int32]batch.Duration{1: 11358, 128: 100, 650: 29}, 650},
	} {
		menu := types[c.kind-1].menu(nil, c.walltime*batch.Second, c.traced, 10_000)
		if len(menu) != int(c.last) || menu[0].Width != 1 || menu[len(menu)-1].Width != c.last {
			t.Fatalf("t%d: menu of %d shapes", c.kind, len(menu))
		}
		for width, want := range c.want {
			if got := menu[width-1]; got != (batch.Shape{Width: width, Walltime: want * batch.Second}) {
				t.Errorf("t%d at width %d: %v, want %d s", c.kind, width, got, want)
			}
		}
	}
}

// The oracle is the paper's text, step by step, in fractions.
func TestWalltimesMatchThePaperExactly(t *testing.T) {
	speedup := func(a amdahl, n int32) *big.Rat {
		p := big.NewRat(a.parallel, millionths)
		s := new(big.Rat).Sub(big.NewRat(1, 1), p)
		return s.Inv(s.Add(s, new(big.Rat).Quo(p, big.NewRat(int64(n), 1))))
	}
	rapid.Check(t, func(t *rapid.T) {
		a := amdahl{
			parallel: rapid.Int64Range(0, millionths).Draw(t, "parallel"), limit: rapid.Int32Range(1, 700).Draw(t,
				"limit"),
		}
		traced := rapid.Int32Range(2, batch.MaxProcessors).Draw(t, "traced")
		walltime := rapid.Int64Range(1, 10_000_000_000).Draw(t, "walltime")
		widest := rapid.Int32Range(1, 700).Draw(t, "widest")
		menu := a.menu(nil, batch.Duration(walltime)*batch.Second, traced, widest)
		if len(menu) != int(min(a.limit, widest)) {
			t.Fatalf("%d shapes", len(menu))
		}
		w1 := new(big.Rat).Mul(big.NewRat(walltime, 1), speedup(a, traced))
		for i, shape := range menu {
			n := int32(i + 1)
			want := ceil(new(big.Rat).Quo(w1, speedup(a, n)))
			if shape.Width != n || !want.IsInt64() ||
				want.Int64() != int64(shape.Walltime/batch.Second) && shape.Walltime != batch.Forever {
				t.Fatalf("width %d: %v, want %v s", n, shape, want)
			}
			if shape.Walltime == batch.Forever && want.Cmp(big.NewInt(int64(batch.Forever/batch.Second))) <= 0 {
				t.Fatalf("width %d: forever, want %v s", n, want)
			}
			if i > 0 && shape.Walltime > menu[i-1].Walltime {
				t.Fatalf("%v takes longer than %v", shape, menu[i-1])
			}
		}
		if traced <= int32(len(menu)) && menu[traced-1].Walltime != batch.Duration(walltime)*batch.Second {
			t.Fatalf("the traced width has %v, traced was %d s", menu[traced-1], walltime)
		}
	})
}

func ceil(r *big.Rat) *big.Int {
	q, m := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func TestRuntimesKeepTheirPartOfTheWalltime(t *testing.T) {
	for _, c := range []struct{ runtime, walltime, got, want batch.Duration }{
		{1800, 3600, 2025, 1013}, // 1012.5
		{3600, 3600, 2025, 2025},
		{0, 3600, 2025, 0},
		{1, 3, 100, 33},
		{2, 3, 100, 67},
		{150, 100, 42, 63}, // it overruns there, too
		{1, 1000, 499, 0},
		{1, 1000, 500, 1},
		{10_000_000_000, 1, 10_000_000_000, batch.Forever / batch.Second},
	} {
		got := ratio(c.runtime*batch.Second, c.walltime*batch.Second, c.got*batch.Second)
		want := c.want * batch.Second
		if c.want == batch.Forever/batch.Second {
			want = batch.Forever
		}
		if got != want {
			t.Errorf("%d of %d s, with %d s: %v, want %v", c.runtime, c.walltime, c.got, got, want)
		}
	}
	if got := ratio(batch.Second, batch.Second, batch.Forever); got != batch.Forever {
		t.Errorf("of forever: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		runtime, walltime := rapid.Int64Range(0, 10_000_000).Draw(t, "runtime"), rapid.Int64Range(1, 10_000_000).Draw(t,
			"walltime")
		got := rapid.Int64Range(1, 800_000).Draw(t, "got")
		x := big.NewRat(runtime, walltime)
		x.Mul(x, big.NewRat(got, 1)).Add(x, big.NewRat(1, 2))
		want := new(big.Int).Div(x.Num(), x.Denom())
		if r := ratio(batch.Duration(runtime)*batch.Second, batch.Duration(walltime)*batch.Second,
			batch.Duration(got)*batch.Second); int64(r/batch.Second) != want.Int64() {
			t.Fatalf("%v, want %v s", r, want)
		}
	})
}
