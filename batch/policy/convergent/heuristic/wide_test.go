package heuristic

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestWideMatchesBigInt(t *testing.T) {
	number := func(w wide) *big.Int {
		n := new(big.Int).Lsh(new(big.Int).SetUint64(w.hi), 64)
		return n.Add(n, new(big.Int).SetUint64(w.lo))
	}
	bits := rapid.SampledFrom([]int{0, 0, 0, 10, 30, 50, 63})
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Uint64().Draw(t, "a")
		b := rapid.Uint64Range(1<<40, 1<<63).Draw(t, "b") >> bits.Draw(t, "shift")
		k := max(1, rapid.Uint64().Draw(t, "k")>>bits.Draw(t, "shift"))
		n := rapid.IntRange(-63, 127).Draw(t, "n")
		w, want := product(a, b), new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		by := new(big.Int).SetUint64(k)
		check := func(what string, got wide, want *big.Int) {
			t.Helper()
			if want.BitLen() <= 128 && number(got).Cmp(want) != 0 {
				t.Errorf("%s: %v, want %v", what, number(got), want)
			}
		}
		check("product", w, want)
		check("times", w.times(k), new(big.Int).Mul(want, by))
		check("over", w.over(k), new(big.Int).Quo(want, by))
		if n >= 0 {
			check("half", w.half(n), new(big.Int).Rsh(want, uint(n)))
		} else {
			check("half", w.half(n), new(big.Int).Lsh(want, uint(-n)))
		}
		if w.bits() != want.BitLen() {
			t.Errorf("%d bits, want %d", w.bits(), want.BitLen())
		}
		v := product(k, k)
		if !w.less(v) {
			check("minus", w.minus(v), new(big.Int).Sub(want, number(v)))
		}
		if w.less(v) != (want.Cmp(number(v)) < 0) {
			t.Errorf("less: %v, %v", want, number(v))
		}
	})
}
