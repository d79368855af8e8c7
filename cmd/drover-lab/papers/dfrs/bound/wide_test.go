package bound

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func (a wide) big() *big.Int {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(a.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(a.lo))
}

func TestWideComputesAsBigNumbersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(math.MaxInt64-9, math.MaxInt64))
		m, n := number.Draw(t, "m"), number.Draw(t, "n")
		a := product(m, n)
		b := product(number.Draw(t, "o"), number.Draw(t, "p"))
		if want := new(big.Int).Mul(big.NewInt(m), big.NewInt(n)); a.big().Cmp(want) != 0 {
			t.Errorf("%d×%d = %v", m, n, a.big())
		}
		if want := new(big.Int).Add(a.big(), b.big()); a.add(b).big().Cmp(want) != 0 {
			t.Errorf("%v+%v = %v", a.big(), b.big(), a.add(b).big())
		}
		if a.above(b) != (a.big().Cmp(b.big()) > 0) || a.zero() != (a.big().Sign() == 0) {
			t.Errorf("%v above %v: %v, is zero: %v", a.big(), b.big(), a.above(b), a.zero())
		}
		limit := number.Draw(t, "limit")
		most := a.most(limit)
		if want := min(a.big().Cmp(big.NewInt(limit)), 0); want == 0 && most != limit || want < 0 &&
			a.big().Cmp(big.NewInt(most)) != 0 {
			t.Errorf("%v, %d at most: %d", a.big(), limit, most)
		}
		if want := new(big.Int).Sub(a.big(), big.NewInt(most)); a.less(most).big().Cmp(want) != 0 {
			t.Errorf("%v-%d = %v", a.big(), most, a.less(most).big())
		}
		by := max(1, number.Draw(t, "by"))
		down := new(big.Int).Quo(a.big(), big.NewInt(by))
		up := new(big.Int).Add(a.big(), big.NewInt(by-1))
		up.Quo(up, big.NewInt(by))
		if got, ok := a.over(by); ok != (down.BitLen() <= 62) || ok && up.Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%v/%d = %d, %v, want %v", a.big(), by, got, ok, up)
		}
	})
}
