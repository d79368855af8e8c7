package lublin

import (
	"errors"
	"math"
	"testing"
)

func TestRequestsAreMadeAsTheEstimatesSay(t *testing.T) {
	for _, c := range []struct {
		estimates string
		run       int64
		u         float64
		want      int64
	}{
		{"exact", 17, 0.5, 17},
		{"factor:1", 17, 0.5, 17},
		{"factor:1.1", 100, 0.5, 110},
		{"factor:1.1", 1, 0.5, 2},
		{"factor:5", MaxRuntime, 0, 5 * MaxRuntime},
		{"uniform:1", 162754, 0.99, 162754},
		{"uniform:5", 100, 0, 100},
		{"uniform:5", 100, 0.5, 300},
		{"uniform:5", 100, 0x1.fffffp-1, 500},
	} {
		e, err := ParseEstimates(c.estimates)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.request(c.run, c.u); got != c.want {
			t.Errorf("%s of %d s with %g: %d s, want %d", c.estimates, c.run, c.u, got, c.want)
		}
	}
}

func TestUniformEstimatesAreUniform(t *testing.T) {
	var sample []float64
	for _, j := range generate(t, Config{Jobs: 100_000, Procs: 64, Estimates: Estimates{Uniform, 4}}).Jobs {
		if j.Run > 10_000 { // where rounding to seconds does not count
			sample = append(sample, float64(j.ReqTime)/float64(j.Run))
		}
	}
	wantDistribution(t, sample, func(x float64) float64 { return (x - 1) / 3 })
}

func TestWrongNamesAreRefused(t *testing.T) {
	for _, s := range []string{
		"", "Exact", "exact:2", "factor", "factor:", "factor:x", "factor:0.9", "factor:1001", "uniform:NaN",
		"uniform:Inf", "f:2",
	} {
		_, err := ParseEstimates(s)
		if e, ok := errors.AsType[*FieldError](err); !ok || e.Field != "estimates" {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", "Batch", "both"} {
		_, err := ParseClasses(s)
		if e, ok := errors.AsType[*FieldError](err); !ok || e.Field != "classes" {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, c := range []Classes{Undivided, Divided, Batch, Interactive} {
		if got, err := ParseClasses(c.String()); got != c || err != nil {
			t.Errorf("%s is read as %s, %v", c, got, err)
		}
	}
}

func FuzzParseEstimates(f *testing.F) {
	for _, s := range []string{
		"exact", "factor:2", "uniform:10", "factor:1e2", "uniform:0x1p3", "factor:-1", ":", "uniform:NaN",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEstimates(s)
		if err != nil {
			if _, ok := errors.AsType[*FieldError](err); !ok || e != (Estimates{}) {
				t.Errorf("%q: %v, %v", s, e, err)
			}
			return
		}
		if again, err := ParseEstimates(e.String()); err != nil || again != e {
			t.Errorf("%q is %s, which is %s, %v", s, e, again, err)
		}
		for _, u := range []float64{0, 0.3, math.Nextafter(1, 0)} {
			if r := e.request(MaxRuntime, u); r < MaxRuntime || r > MaxRuntime*MaxFactor {
				t.Errorf("%q: %d s", s, r)
			}
		}
	})
}
