package chart

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func labels(a axis) string {
	var out []string
	for _, t := range a.ticks {
		if t.label != "" {
			out = append(out, t.label)
		}
	}
	return strings.Join(out, " ")
}

func TestAxesHaveRoundMarks(t *testing.T) {
	for want, a := range map[string]axis{
		"0% 20% 40% 60% 80% 100%":             linear(0, 1, Percent),
		"0.0% 0.5% 1.0% 1.5% 2.0% 2.5%":       linear(0, 0.021, Percent),
		"0.6 0.7 0.8 0.9 1.0 1.1":             linear(0.61, 1.04, Plain),
		"-0.2 0.0 0.2 0.4 0.6 0.8 1.0":        linear(-0.19, 1, Plain),
		"0 5,000 10,000 15,000 20,000":        linear(0, 20_000, Plain),
		"0.994 0.996 0.998 1.000 1.002 1.004": linear(0.995, 1.004, Plain),
		"-1,500 -1,000 -500 0 500 1,000":      linear(-1400, 1000, Plain),
		"0.01 0.1 1 10 100":                   logarithmic(0.02, 60),
		"1,000 10,000 100,000":                logarithmic(1000, 100_000),
		"1 10":                                logarithmic(1, 1),
	} {
		if got := labels(a); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAnAxisOfOneValueHasMargins(t *testing.T) {
	if a := linear(1, 1, Plain); a.min >= 1 || a.max <= 1 || len(a.ticks) < 4 {
		t.Errorf("%+v", a)
	}
}

func TestAxesCoverTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(0, 1e6).Draw(t, "width")
		a := linear(low, high, Plain)
		if n := len(a.ticks); n < 4 || n > 9 {
			t.Fatalf("%d marks from %v to %v", n, a.min, a.max)
		}
		if p, q := a.place(low), a.place(high); p < -1e-6 || q > 1+1e-6 || p > q {
			t.Fatalf("%v and %v are at %v and %v", low, high, p, q)
		}
		positive := rapid.Float64Range(1e-9, 1e9).Draw(t, "positive")
		l := logarithmic(positive, positive*rapid.Float64Range(1, 1e6).Draw(t, "factor"))
		if p := l.place(positive); p < -1e-6 || p > 1+1e-6 {
			t.Fatalf("%v is at %v", positive, p)
		}
	})
}
