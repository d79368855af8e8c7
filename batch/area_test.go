package batch_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestAreasAddExactlyBeyond64Bits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sum, want := batch.Area{}, new(big.Int)
		var areas []batch.Area
		for range rapid.IntRange(1, 20).Draw(t, "count") {
			w := rapid.Int32Range(0, batch.MaxProcessors).Draw(t, "width")
			d := rapid.Int64Range(0, int64(batch.Forever)).Draw(t, "length")
			a := batch.AreaOf(w, batch.Duration(d))
			areas = append(areas, a)
			sum = sum.Add(a)
			want.Add(want, new(big.Int).Mul(big.NewInt(int64(w)), big.NewInt(d)))
		}
		seconds, _ := new(big.Float).Quo(new(big.Float).SetInt(want), big.NewFloat(1e6)).Float64()
		if got := sum.Seconds(); got < seconds*(1-1e-12) || got > seconds*(1+1e-12) {
			t.Fatalf("sum %g, want %g", got, seconds)
		}
		for _, a := range areas {
			sum = sum.Sub(a)
		}
		if sum != (batch.Area{}) {
			t.Fatalf("%g left", sum.Seconds())
		}
	})
}

func TestTheTimeOfProcessorsForAnAreaIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) batch.Area {
			w := rapid.Int32Range(0, batch.MaxProcessors).Draw(t, name)
			return batch.AreaOf(w, batch.Duration(rapid.Int64Range(0, int64(batch.Forever)).Draw(t, "length")))
		}
		a, b := draw("a"), draw("b")
		sum := a.Add(b)
		if sum.Less(a) || a.Less(sum) != (b != batch.Area{}) {
			t.Fatalf("a+b less than a: %v; a less than a+b: %v", sum.Less(a), a.Less(sum))
		}
		by := rapid.Int32Range(1, batch.MaxProcessors).Draw(t, "processors")
		d := sum.Over(by)
		if d < batch.Forever && batch.AreaOf(by, d).Less(sum) {
			t.Fatalf("%d processors do not cover the area in %d", by, d)
		}
		if d > 0 && !batch.AreaOf(by, d-1).Less(sum) {
			t.Fatalf("%d processors cover the area in less than %d", by, d)
		}
	})
}
