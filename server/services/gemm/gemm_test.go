package gemm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/server/services"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func random(rows, cols int, seed uint64) matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	m := newMatrix(rows, cols)
	for i := range m.data {
		m.data[i] = r.NormFloat64()
	}
	return m
}

func (m matrix) clone() matrix { return matrix{m.rows, m.cols, append([]float64(nil), m.data...)} }

// naive computes the product by its definition, with Kahan summation.
func naive(alpha float64, a, b matrix, beta float64, c matrix) matrix {
	out := newMatrix(c.rows, c.cols)
	for i := range c.rows {
		for j := range c.cols {
			sum, lost := 0.0, 0.0
			for p := range a.cols {
				y := a.data[i*a.cols+p]*b.data[p*b.cols+j] - lost
				t := sum + y
				lost = (t - sum) - y
				sum = t
			}
			out.data[i*c.cols+j] = alpha*sum + beta*c.data[i*c.cols+j]
		}
	}
	return out
}

func bits(m matrix) string {
	var b strings.Builder
	for _, v := range m.data {
		fmt.Fprintf(&b, "%016x", math.Float64bits(v))
	}
	return b.String()
}

func TestProductsMatchTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 70),
			rapid.SampledFrom([]int{panelRows, panelRows + 1, panelCols + 1}))
		rows, inner, cols := size.Draw(t, "rows"), size.Draw(t, "inner"), size.Draw(t, "cols")
		factor := rapid.SampledFrom([]float64{0, 1, -1, 0.5, 3})
		alpha, beta := factor.Draw(t, "alpha"), factor.Draw(t, "beta")
		seed := rapid.Uint64().Draw(t, "seed")
		a, b, c := random(rows, inner, seed), random(inner, cols, seed+1), random(rows, cols, seed+2)
		want := naive(alpha, a, b, beta, c)
		got := c.clone()
		if err := multiply(context.Background(), alpha, a, b, beta, got,
			rapid.IntRange(1, 5).Draw(t, "threads")); err != nil {
			t.Fatal(err)
		}
		for i := range want.data {
			// The terms are about 1, and each addition loses at most one bit.
			if d := math.Abs(got.data[i] - want.data[i]); !(d <= float64(inner+2)*0x1p-48) {
				t.Fatalf("element %d is %v, want %v", i, got.data[i], want.data[i])
			}
		}
	})
}

func TestTheResultHasTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	a, b, c := random(197, 263, 1), random(263, 301, 2), random(197, 301, 3)
	var want string
	for _, threads := range []int{1, 2, 3, 7, 16, 1000} {
		got := c.clone()
		if err := multiply(t.Context(), 0.3, a, b, -1.7, got, threads); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = bits(got)
		}
		if bits(got) != want {
			t.Errorf("%d threads give different bits than 1", threads)
		}
	}
}

func TestMatricesWithAZeroFactorAreNotRead(t *testing.T) {
	nan := matrix{1, 1, []float64{math.NaN()}}
	one := matrix{1, 1, []float64{1}}
	for name, tc := range map[string]struct {
		alpha, beta float64
		a, c        matrix
		want        float64
	}{
		"C":       {2, 0, one, nan, 2},
		"A and B": {0, 3, nan, one, 3},
	} {
		got := tc.c.clone()
		if err := multiply(t.Context(), tc.alpha, tc.a, one, tc.beta, got, 1); err != nil || got.data[0] != tc.want {
			t.Errorf("%s: %v, %v", name, got.data, err)
		}
	}
	got := one.clone()
	if err := multiply(t.Context(), 1, nan, one, 1, got, 1); err != nil || !math.IsNaN(got.data[0]) {
		t.Errorf("a NaN in a matrix that is read is lost: %v, %v", got.data, err)
	}
}

// files writes the matrices of a product and returns its Config.
func files(t *testing.T, a, b, c matrix) Config {
	t.Helper()
	dir := t.TempDir()
	cfg := DefaultConfig()
	cfg.A, cfg.B, cfg.C = filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	cfg.Rows, cfg.Inner, cfg.Cols = a.rows, a.cols, b.cols
	for path, m := range map[string]matrix{cfg.A: a, cfg.B: b, cfg.C: c} {
		if err := write(path, m); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

func TestRunReplacesCAndReports(t *testing.T) {
	cfg := files(t, matrix{2, 3, []float64{1, 2, 3, 4, 5, 6}}, matrix{3, 1, []float64{1, 0, -1}},
		matrix{2, 1, []float64{10, 20}})
	cfg.Alpha, cfg.Beta = 2, 0.5
	var report bytes.Buffer
	if err := Run(t.Context(), cfg, &report); err != nil {
		t.Fatal(err)
	}
	// 2 (1 - 3) + 5, 2 (4 - 6) + 10; 1.0 is 0x3ff0..., 6.0 is 0x4018...
	if got, err := os.ReadFile(cfg.C); err != nil || !bytes.Equal(got, []byte{
		0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0,
		0, 0, 0x18, 0x40,
	}) {
		t.Errorf("%x, %v", got, err)
	}
	if !strings.HasPrefix(report.String(), "product  2 x 3 x 1 (C = 2 A B + 0.5 C)\nthreads  1\nseconds  0.") {
		t.Errorf("report %q", report.String())
	}
}

func TestEmptyMatricesAreMultiplied(t *testing.T) {
	cfg := files(t, newMatrix(2, 0), newMatrix(0, 1), matrix{2, 1, []float64{1, 2}})
	cfg.Beta = 1
	if err := Run(t.Context(), cfg, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	c, err := read(t.Context(), "c", cfg.C, 2, 1)
	if err != nil || c.data[0] != 1 || c.data[1] != 2 {
		t.Errorf("%v, %v", c.data, err)
	}
}

func TestRunRefusesBadInputAndDoesNotChangeC(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*Config)
		argument string
	}{
		"another size":      {func(c *Config) { c.Inner = 3 }, "a: got 32 bytes, accepted: 48 bytes: 2 x 3 numbers"},
		"another size of C": {func(c *Config) { c.C = c.A + "x" }, "c: got 0 bytes, accepted: 16 bytes"},
		"no file":           {func(c *Config) { c.B = "" }, "b: got \"\""},
		"no threads":        {func(c *Config) { c.Threads = 0 }, "threads: got 0"},
		"below zero":        {func(c *Config) { c.Rows = -1 }, "rows: got -1"},
		"too large": {
			func(c *Config) { c.Rows, c.Cols = MaxDimension, MaxDimension },
			"elements of c: got 1099511627776",
		},
	} {
		cfg := files(t, random(2, 2, 1), random(2, 1, 2), random(2, 1, 3))
		before, err := os.ReadFile(cfg.C)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(cfg.A+"x", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		kept := cfg.C
		tc.change(&cfg)
		err = Run(t.Context(), cfg, &bytes.Buffer{})
		var bad *services.ArgumentError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tc.argument) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(kept); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: C has changed, %v", name, err)
		}
	}
	cfg := files(t, random(2, 2, 1), random(2, 1, 2), random(2, 1, 3))
	if err := os.Remove(cfg.B); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), cfg, &bytes.Buffer{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no B: %v", err)
	}
}

func TestACancelledProductDoesNotChangeC(t *testing.T) {
	cfg := files(t, random(100, 100, 1), random(100, 100, 2), random(100, 100, 3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, cfg, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("reading: %v", err)
	}
	if err := multiply(ctx, 1, random(100, 100, 1), random(100, 100, 2), 0, newMatrix(100, 100), 2); !errors.Is(err,
		context.Canceled) {
		t.Errorf("multiplying: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(cfg.C)); err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}

func BenchmarkMultiply(b *testing.B) {
	for _, n := range []int{100, 400, 1600} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(b *testing.B) {
				x, y, z := random(n, n, 1), random(n, n, 2), newMatrix(n, n)
				for b.Loop() {
					if err := multiply(b.Context(), 1, x, y, 0, z, threads); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
			})
		}
	}
}
