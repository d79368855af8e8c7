package dynp

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func number(t *rapid.T, label string) wide {
	w := wide{rapid.Uint64().Draw(t, label+" hi"), rapid.Uint64().Draw(t, label+" lo")}
	shift := rapid.SampledFrom([]uint{0, 1, 40, 63, 64}).Draw(t, label+" shift")
	if shift > 0 {
		w = w.shifted(shift)
	}
	return w
}

func (a wide) exact() *big.Int {
	x := new(big.Int).SetUint64(a.hi)
	return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(a.lo))
}

func TestWideMatchesBigIntWithinItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := number(t, "a"), number(t, "b"), max(1, rapid.Uint64().Draw(t, "n"))
		part := rapid.Uint64Range(0, n).Draw(t, "part")
		exactly := func(what string, got wide, want *big.Int) {
			if want.BitLen() > 128 {
				want = highest.exact()
			}
			if want.Sign() < 0 {
				want = new(big.Int)
			}
			if got.exact().Cmp(want) != 0 {
				t.Fatalf("%s of %v, %v, %d, %d: %v, want %v", what, a, b, n, part, got.exact(), want)
			}
		}
		x, y, z := a.exact(), b.exact(), new(big.Int).SetUint64(n)
		exactly("sum", a.add(b), new(big.Int).Add(x, y))
		exactly("difference", a.sub(b), new(big.Int).Sub(x, y))
		exactly("times", a.times(n), new(big.Int).Mul(x, z))
		exactly("product", product(a.lo, n), new(big.Int).Mul(new(big.Int).SetUint64(a.lo), z))
		q, r := a.over(n)
		exactly("over", q, new(big.Int).Div(x, z))
		exactly("rest", wide{0, r}, new(big.Int).Mod(x, z))
		p := new(big.Int).Mul(x, new(big.Int).SetUint64(part))
		exactly("part", a.part(part, n), p.Div(p, z))
		if a.less(b) != (x.Cmp(y) < 0) {
			t.Fatalf("%v less than %v: %v", a, b, a.less(b))
		}
		if b.hi == 0 && b.lo > 0 {
			exactly("ratio", a.ratio(b), new(big.Int).Div(new(big.Int).Lsh(x, 20), y))
		}
	})
}

// Ratios of large numbers drop low digits, and are still exact to 2^-40.
func TestRatiosOfLargeNumbersAreAccurate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := number(t, "a"), number(t, "b")
		if b.hi == 0 {
			t.Skip("a small one")
		}
		got := new(big.Float).SetInt(a.ratio(b).exact())
		want := new(big.Float).Quo(new(big.Float).SetInt(new(big.Int).Lsh(a.exact(), 20)),
			new(big.Float).SetInt(b.exact()))
		off, _ := new(big.Float).Sub(got, want).Float64()
		if w, _ := want.Float64(); off < -1-w*0x1p-40 || off > 1+w*0x1p-40 {
			t.Fatalf("%v/%v is %v, want %v", a, b, got, want)
		}
	})
}
