package needs_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/needs"
)

const (
	one = batch.One
	s   = batch.Second
	mib = 1 << 20
)

func TestOneSampleCorrectsANeedByAFractionOfTheDifference(t *testing.T) {
	for name, c := range map[string]struct {
		declared needs.Need
		sample   needs.Sample
		want     needs.Need
	}{
		"lower use for the time of the pace": {needs.Need{CPU: one}, needs.Sample{
			Span: 60 * s, CPU: one * 4 / 9,
			Share: one,
		}, needs.Need{CPU: 786431}},
		"lower use for a second": {
			needs.Need{CPU: one},
			needs.Sample{Span: s, CPU: 0, Share: one},
			needs.Need{CPU: one - 17018},
		},
		"higher use than declared": {needs.Need{CPU: one / 4}, needs.Sample{
			Span: 60 * s, CPU: one / 2,
			Share: one,
		}, needs.Need{CPU: (one/4 + one*9/16) / 2}},
		"throttled below its need": {needs.Need{CPU: one / 2}, needs.Sample{
			Span: 60 * s, CPU: one / 4,
			Share: one / 4, Throttled: 30 * s,
		}, needs.Need{CPU: one / 2}},
		"throttled at its need": {needs.Need{CPU: one / 2}, needs.Sample{
			Span: 60 * s, CPU: one / 2,
			Share: one / 2, Throttled: 30 * s,
		}, needs.Need{CPU: one * 3 / 4}},
		"throttled rarely": {needs.Need{CPU: one}, needs.Sample{
			Span: 60 * s, CPU: 0, Share: one / 2,
			Throttled: s,
		}, needs.Need{CPU: (one + needs.Least) / 2}},
		"no time": {
			needs.Need{CPU: one},
			needs.Sample{Memory: 5 * mib},
			needs.Need{CPU: one, Memory: 5 * mib},
		},
		"nothing declared": {needs.Need{}, needs.Sample{Memory: 1}, needs.Need{CPU: one, Memory: mib}},
		"memory without a limit": {
			needs.Need{CPU: one, Memory: 8 * mib},
			needs.Sample{Memory: mib},
			needs.Need{CPU: one, Memory: 8 * mib},
		},
		"more memory than declared": {
			needs.Need{CPU: one, Memory: 8 * mib},
			needs.Sample{Memory: 9*mib + 1},
			needs.Need{CPU: one, Memory: 10 * mib},
		},
		"a lowered limit": {
			needs.Need{CPU: one, Memory: 8 * mib},
			needs.Sample{Memory: mib, Limit: 5*mib + 3},
			needs.Need{CPU: one, Memory: 5*mib + 3},
		},
		"a raised limit": {
			needs.Need{CPU: one, Memory: 8 * mib},
			needs.Sample{Memory: mib, Limit: 20 * mib},
			needs.Need{CPU: one, Memory: 20 * mib},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := needs.New(c.declared)
			x.Take(c.sample)
			if got := x.Need(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func samples() *rapid.Generator[[]needs.Sample] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) needs.Sample {
		span := batch.Duration(rapid.Int64Range(0, int64(batch.Hour)).Draw(t, "span"))
		m := needs.Sample{
			Span: span, CPU: batch.Share(rapid.Int32Range(0, int32(one)+9999).Draw(t, "cpu")),
			Share:  batch.Share(rapid.Int32Range(1, int32(one)).Draw(t, "share")),
			Memory: rapid.Int64Range(0, 1<<50).Draw(t, "memory"),
		}
		if rapid.Bool().Draw(t, "throttled") {
			m.Throttled = batch.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "for"))
		}
		if rapid.Bool().Draw(t, "limited") {
			m.Limit = rapid.Int64Range(1, 1<<50).Draw(t, "limit")
		}
		return m
	}), 1, 30)
}

func TestMemoryNeedIsNeverBelowTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		declared := needs.Need{CPU: one, Memory: rapid.Int64Range(0, 1<<50).Draw(t, "declared")}
		c := needs.New(declared)
		peak := int64(0)
		for _, m := range samples().Draw(t, "samples") {
			c.Take(m)
			peak = max(peak, m.Memory)
			least := max(peak, m.Limit)
			if m.Limit == 0 {
				least = max(peak, declared.Memory)
			}
			if got := c.Need().Memory; got < least || got >= least+needs.Grain {
				t.Fatalf("%d bytes, want %d to a little more", got, least)
			}
			if found := c.Found(); found.Memory != peak || found.CPU != c.Need().CPU {
				t.Fatalf("found %+v, but %d bytes were used", found, peak)
			}
		}
	})
}

// The step is exactly span/(span+Pace) of the difference. A task that was throttled below its
// estimate does not change it.
func TestCPUNeedMovesSlowlyToTheMeasuredNeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := needs.New(needs.Need{CPU: batch.Share(rapid.Int32Range(1, int32(one)).Draw(t, "declared"))})
		for _, m := range samples().Draw(t, "samples") {
			was := c.Need().CPU
			c.Take(m)
			to := min(max(m.CPU+m.CPU/8, needs.Least), one)
			if m.Throttled > m.Span/50 {
				switch to = was; {
				case m.Share >= was:
					to = one
				case m.CPU > was:
					to = min(m.CPU, one)
				}
			}
			way := new(big.Rat).Mul(big.NewRat(int64(max(to-was, was-to)), 1),
				big.NewRat(int64(m.Span), int64(m.Span+needs.Pace)))
			got := c.Need().CPU
			rest := new(big.Rat).Sub(big.NewRat(int64(max(got-was, was-got)), 1), way)
			if rest.Sign() < 0 || rest.Cmp(big.NewRat(1, 1)) >= 0 || got < min(was, to) || got > max(was, to) ||
				got < needs.Least || got > one {
				t.Fatalf("from %d to %d, toward %d within %d", was, got, to, m.Span)
			}
		}
	})
}

// A task that needs a part of a processor gets a share of its estimated need.
func TestTheEstimateConvergesToTheNeed(t *testing.T) {
	for _, declared := range []batch.Share{needs.Least, one / 4, one} {
		for _, wants := range []batch.Share{0, one / 5, one / 2, one} {
			c := needs.New(needs.Need{CPU: declared})
			reports := 0
			least, most := one, batch.Share(0)
			for i := range 1800 {
				share := c.Need().CPU
				if i%3 == 0 {
					share /= 2 // other tasks need the processor too
				}
				m := needs.Sample{Span: s, CPU: min(wants, share), Share: share}
				if wants > share {
					m.Throttled = s * batch.Duration(wants-share) / batch.Duration(wants)
				}
				c.Take(m)
				if _, ok := c.Report(); ok {
					reports++
				}
				if i > 900 {
					least, most = min(least, c.Need().CPU), max(most, c.Need().CPU)
				}
			}
			want := max(min(wants+wants/8, one), needs.Least)
			if least < want-want/8 || most > want+needs.Step || reports > 40 {
				t.Errorf("declared %d, wants %d: estimated %d to %d, reported %d times", declared, wants, least, most,
					reports)
			}
		}
	}
}

// A restored estimator has reported nothing, so it reports the same as the first one.
func TestMeasuredNeedsAreRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		declared := needs.Need{
			CPU:    batch.Share(rapid.Int32Range(1, int32(one)).Draw(t, "cpu")),
			Memory: rapid.Int64Range(0, 1<<50).Draw(t, "memory"),
		}
		first, then := needs.New(declared), needs.New(declared)
		for _, m := range samples().Draw(t, "before") {
			first.Take(m)
		}
		then.Recall(first.Found())
		if before := needs.New(declared).Need(); then.Reported() != before {
			t.Fatalf("reported %+v, want %+v as declared", then.Reported(), before)
		}
		for _, m := range samples().Draw(t, "after") {
			first.Take(m)
			then.Take(m)
			if a, b := first.Need(), then.Need(); a != b {
				t.Fatalf("%+v, and %+v of the one that recalls", a, b)
			}
			if n, news := then.Report(); news && then.Reported() != n {
				t.Fatalf("reported %+v, want %+v", then.Reported(), n)
			}
		}
	})
}
