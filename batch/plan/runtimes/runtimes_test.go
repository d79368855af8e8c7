package runtimes_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

func TestRatiosAreRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		estimate := batch.Duration(rapid.Int64Range(1, 1<<50).Draw(t, "estimate"))
		runtime := batch.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "runtime"))
		got := runtimes.RatioOf(runtime, estimate)
		exact := new(big.Rat).SetFrac(big.NewInt(int64(runtime)), big.NewInt(int64(estimate)))
		exact.Mul(exact, big.NewRat(int64(runtimes.One), 1))
		if got < runtimes.Longest {
			over := new(big.Rat).Sub(big.NewRat(int64(got), 1), exact)
			if over.Sign() < 0 || over.Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("%d of %d: %d, exactly %v", runtime, estimate, got, exact)
			}
		} else if exact.Cmp(big.NewRat(int64(runtimes.Longest)-1, 1)) <= 0 {
			t.Fatalf("%d of %d is not longest", runtime, estimate)
		}
		back := runtimes.Ratio(rapid.Int32Min(0).Draw(t, "ratio"))
		want := new(big.Int).Mul(big.NewInt(int64(back)), big.NewInt(int64(estimate)))
		want.Add(want, big.NewInt(int64(runtimes.One)-1)).Rsh(want, 20)
		if d := back.Of(estimate); want.IsInt64() && int64(d) != want.Int64() {
			t.Fatalf("%d of %d: %d, want %v", back, estimate, d, want)
		}
	})
	if d := runtimes.Longest.Of(batch.Forever); d != batch.Forever {
		t.Errorf("the longest of forever is %d", d)
	}
}

// oracle keeps all samples and examines the newest ones at each question.
type oracle map[[2]string][]runtimes.Ratio

func (o oracle) newest(k [2]string, n int) []runtimes.Ratio {
	s := slices.Clone(o[k])
	s = s[max(0, len(s)-n):]
	slices.Sort(s)
	return s
}

func TestADistributionHoldsTheNewestSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		h := runtimes.New(runtimes.Limits{Samples: limit, Keys: 100})
		all := oracle{}
		names := []string{"", "a", "b"}
		for range rapid.IntRange(1, 60).Draw(t, "jobs") {
			owner, app := rapid.SampledFrom(names).Draw(t, "owner"), rapid.SampledFrom(names).Draw(t, "app")
			runtime := batch.Duration(rapid.IntRange(0, 30).Draw(t, "runtime"))
			h.Add(owner, app, 20, runtime)
			r := runtimes.RatioOf(runtime, 20)
			if owner != "" && app != "" {
				all[[2]string{owner, app}] = append(all[[2]string{owner, app}], r)
			}
			if owner != "" {
				all[[2]string{owner}] = append(all[[2]string{owner}], r)
			}
			if app != "" {
				all[[2]string{"", app}] = append(all[[2]string{"", app}], r)
			}
		}
		owner, app := rapid.SampledFrom(names).Draw(t, "asked owner"), rapid.SampledFrom(names).Draw(t, "asked app")
		least := rapid.IntRange(1, 12).Draw(t, "least")
		var want []runtimes.Ratio
		level := runtimes.None
		for i, k := range [][2]string{{owner, app}, {owner}, {"", app}} {
			if (i == 0 && (owner == "" || app == "")) || k == [2]string{} {
				continue
			}
			if want = all.newest(k, limit); len(want) >= least {
				level = runtimes.Level(i)
				break
			}
		}
		got, at := h.Of(owner, app, least)
		if at != level {
			t.Fatalf("level %v, want %v", at, level)
		}
		if got != nil {
			compare(t, got, want)
		}
	})
}

// compare compares all answers of a distribution with those of a sorted slice.
func compare(t *rapid.T, got *runtimes.Distribution, want []runtimes.Ratio) {
	t.Helper()
	if got.N() != len(want) {
		t.Fatalf("%d samples, want %v", got.N(), want)
	}
	chance := runtimes.Chance(rapid.IntRange(0, int(runtimes.Certain)).Draw(t, "chance"))
	beyond := runtimes.RatioOf(batch.Duration(rapid.IntRange(0, 31).Draw(t, "beyond")), 20) - 1
	r := runtimes.RatioOf(batch.Duration(rapid.IntRange(0, 31).Draw(t, "r")), 20)
	var higher []runtimes.Ratio
	over := 0
	for _, s := range want {
		if s > beyond {
			higher = append(higher, s)
		}
		if s > r && s > beyond {
			over++
		}
	}
	q, known := got.Within(chance, beyond)
	if known != (len(higher) > 0) {
		t.Fatalf("samples known beyond %d: %t, of %v", beyond, known, want)
	}
	if !known {
		return
	}
	// The lowest sample that is exceeded with at most the given probability.
	for _, s := range higher {
		n := 0
		for _, o := range higher {
			if o > s {
				n++
			}
		}
		if int64(n)*int64(runtimes.Certain) <= int64(chance)*int64(len(higher)) {
			if q != s {
				t.Fatalf("within %d beyond %d: %d, want %d of %v", chance, beyond, q, s, higher)
			}
			break
		}
	}
	exact := big.NewRat(int64(over)*int64(runtimes.Certain), int64(len(higher)))
	diff := new(big.Rat).Sub(big.NewRat(int64(got.Exceeds(r, beyond)), 1), exact)
	if diff.Sign() < 0 || diff.Cmp(big.NewRat(1, 1)) >= 0 {
		t.Fatalf("exceeds %d beyond %d: %d, want %v", r, beyond, got.Exceeds(r, beyond), exact)
	}
}

func TestTheLeastRecentlyUsedKeyIsForgotten(t *testing.T) {
	h := runtimes.New(runtimes.Limits{Samples: 4, Keys: 2})
	for _, owner := range []string{"a", "b", "a", "c"} {
		h.Add(owner, "", 10, 5)
	}
	for owner, want := range map[string]int{"a": 2, "b": 0, "c": 1} {
		n := 0
		if d, _ := h.Of(owner, "", 1); d != nil {
			n = d.N()
		}
		if n != want {
			t.Errorf("%s has %d samples, want %d", owner, n, want)
		}
	}
}

func TestAForkAndItsOriginLearnIndependently(t *testing.T) {
	h := runtimes.New(runtimes.Default)
	h.Add("a", "x", 10, 5)
	f := h.Fork()
	g := f.Fork()
	f.Add("a", "x", 10, 10)
	h.Add("b", "x", 10, 1)
	say := func(h *runtimes.History) string {
		s := ""
		for _, k := range [][2]string{{"a", "x"}, {"b", "x"}, {"", "x"}} {
			if d, level := h.Of(k[0], k[1], 1); d != nil {
				s += fmt.Sprintf("%d of %v, median %d; ", d.N(), level, d.Median()*10/runtimes.One)
			}
		}
		return s
	}
	for _, c := range []struct {
		h    *runtimes.History
		want string
	}{
		{h, "1 of owner and application, median 5; 1 of owner and application, median 1; 2 of application, median 1; "},
		{f, "2 of owner and application, median 5; 2 of application, median 5; 2 of application, median 5; "},
		{g, "1 of owner and application, median 5; 1 of application, median 5; 1 of application, median 5; "},
	} {
		if got := say(c.h); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestErrorsOfLimitsNameTheirField(t *testing.T) {
	for field, l := range map[string]runtimes.Limits{"samples": {0, 1}, "keys": {1, runtimes.MaxKeys + 1}} {
		var limit *runtimes.LimitError
		if err := l.Validate(); !errors.As(err, &limit) || limit.Field != field {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if err := runtimes.Default.Validate(); err != nil {
		t.Error(err)
	}
}
