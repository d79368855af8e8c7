package lublin

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestExpAndLogMatchTheLibraryUpToTheLastBits(t *testing.T) {
	near := func(t *rapid.T, name string, x, got, want float64) {
		if math.Abs(got-want) > 8e-16*math.Max(math.Abs(want), 0.05) {
			t.Errorf("%s(%g) = %g, want %g", name, x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-30, 30).Draw(t, "x")
		near(t, "exp", x, exp(x), math.Exp(x))
		near(t, "exp2", x, exp2(x), math.Exp2(x))
		y := rapid.Float64Range(1e-17, 1e9).Draw(t, "y")
		near(t, "log", y, log(y), math.Log(y))
		near(t, "log2", y, log2(y), math.Log(y)/math.Ln2) // math.Log2 is worse near 1
		small := rapid.Float64Range(-0.5, 0.5).Draw(t, "small")
		near(t, "log", 1+small, log(1+small), math.Log(1+small))
	})
}

func TestPowersOfTwoAndTheirLogarithmsAreExact(t *testing.T) {
	for k := range 31 {
		if n := float64(int64(1) << k); exp2(float64(k)) != n || log2(n) != float64(k) {
			t.Errorf("2^%d: exp2 %g, log2 %g", k, exp2(float64(k)), log2(n))
		}
	}
}
