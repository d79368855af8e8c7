package sim

import (
	"math/big"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestFractionsAreReadExactly(t *testing.T) {
	for text, want := range map[string]Fraction{
		"0": {0, 1}, "1": {1, 1}, "0.8": {4, 5}, "2/3": {2, 3}, "4/6": {2, 3}, "0.999": {999, 1000},
		"0.000000001": {1, 1_000_000_000},
	} {
		if got, err := ParseFraction(text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "1.1", "3/2", "-0.5", "1/0", "0/0", "1e-1", "1e999999999", "2 / 3", "two", "0.0000000001", "1/9999999999",
		".5", "NaN",
	} {
		if got, err := ParseFraction(text); err == nil ||
			!strings.Contains(err.Error(), "accepted: 0 to 1, as 0.8 or 2/3") {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

func FuzzParseFraction(f *testing.F) {
	for _, s := range []string{"0", "2/3", "0.999", "1/0", "1e9", "9999999999/9999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseFraction(text)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok || !got.valid() || got.rat().Cmp(want) != 0 {
			t.Fatalf("%q is %v", text, got)
		}
		if again, err := ParseFraction(got.String()); err != nil || again != got {
			t.Fatalf("%q is %v, and %v %v again", text, got, again, err)
		}
	})
}

func TestLengthsAcceptDays(t *testing.T) {
	for text, want := range map[string]batch.Duration{
		"": 0, "0d": 0, "183d": 183 * day, "30.5d": 732 * batch.Hour, "1h30m": 90 * batch.Minute,
		"115000d": 115_000 * day,
	} {
		if got, err := ParseLength(text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"30", "-1d", "-1h", "d", ".5d", "1.25d", "1.xd", "1e3d", "115001d", "99999999999999999999d", "soon",
	} {
		if got, err := ParseLength(text); err == nil ||
			!strings.Contains(err.Error(), "accepted: a length of time with its unit, as 30d or 12h") {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"", "30.5d", "12h", "-3d", "1d2h", "0.9d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseLength(text); err == nil && (d < 0 || d > 293*366*day && !strings.HasSuffix(text, "d")) {
			t.Fatalf("%q is %v", text, d)
		}
	})
}
