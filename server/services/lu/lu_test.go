package lu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/server/services"
	"github.com/seed-9b8f70bb/drover/server/services/matrixmarket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// solve factorizes a copy of a and returns the solution.
func solve(t interface {
	Helper()
	Fatal(...any)
}, a, b []float64, threads int,
) []float64 {
	t.Helper()
	f, err := factorize(context.Background(), len(b), slices.Clone(a), threads)
	if err != nil {
		t.Fatal(err)
	}
	x := slices.Clone(b)
	f.solve(x)
	return x
}

func randomMatrix(n int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	a := make([]float64, n*n)
	for i := range a {
		a[i] = random.NormFloat64()
	}
	return a
}

func TestSolveSolvesSystemsComputedByHand(t *testing.T) {
	for _, tt := range []struct {
		name       string
		a, b, want []float64
	}{
		{"one unknown", []float64{4}, []float64{2}, []float64{0.5}},
		{"two unknowns", []float64{2, 1, 1, 3}, []float64{3, 5}, []float64{0.8, 1.4}},
		{"needs a row swap", []float64{0, 1, 2, 0}, []float64{3, 4}, []float64{2, 3}},
		{"three unknowns", []float64{2, 1, -1, -3, -1, 2, -2, 1, 2}, []float64{8, -11, -3}, []float64{2, 3, -1}},
		{"small pivot, wrong without swaps", []float64{1e-20, 1, 1, 1}, []float64{1, 2}, []float64{1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, x := range solve(t, tt.a, tt.b, 1) {
				if math.Abs(x-tt.want[i]) > 1e-14 {
					t.Errorf("x[%d] = %v, want %v", i, x, tt.want[i])
				}
			}
		})
	}
}

func TestResidualMatchesAComputationByHand(t *testing.T) {
	// A x - b = (0.5, -1); ||A|| = 7, ||x|| = 2, ||b|| = 12.
	got := residual([]float64{1, 2, 3, 4}, []float64{1, 2}, []float64{4.5, 12})
	if want := 1.0 / 26; math.Abs(got-want) > 1e-16 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRandomSystemsAreSolvedToWorkingPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		threads := rapid.IntRange(1, 4).Draw(t, "threads")
		a := randomMatrix(n, rapid.Uint64().Draw(t, "seed"))
		b := randomMatrix(n, 7)[:n]
		x := solve(t, a, b, threads)
		if r := residual(a, x, b); !(r < 1e-14) {
			t.Fatalf("residual %v", r)
		}
	})
}

func TestTheSolutionIsTheSameForAnyNumberOfThreads(t *testing.T) {
	for _, n := range []int{1, panelWidth - 1, panelWidth, panelWidth + 1, 130, 257, 400} {
		a, b := randomMatrix(n, 3), randomMatrix(n, 4)[:n]
		want := solve(t, a, b, 1)
		for threads := 2; threads <= 5; threads++ {
			if !slices.Equal(want, solve(t, a, b, threads)) {
				t.Errorf("n = %d: %d threads give different bits than 1", n, threads)
			}
		}
	}
}

func TestSingularMatricesAreRefused(t *testing.T) {
	late := randomMatrix(200, 5) // singular beyond the first panels
	for i := range 200 {
		late[i*200+150] = 0
	}
	for _, tt := range []struct {
		name string
		a    []float64
		want string
	}{
		{"zero", []float64{0}, "no pivot is left for column 1"},
		{"equal rows", []float64{1, 2, 1, 2}, "no pivot is left for column 2"},
		{"singular but for rounding", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, "working precision"},
		{"zero column", late, "no pivot is left for column 151"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := int(math.Sqrt(float64(len(tt.a))))
			_, err := factorize(context.Background(), n, tt.a, 2)
			if !errors.Is(err, ErrSingular) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want ErrSingular with %q", err, tt.want)
			}
		})
	}
}

func TestNumbersBeyondFloat64AreRefused(t *testing.T) {
	for name, a := range map[string][]float64{
		"norm":        {1.5e308, 1, 1.5e308, -1},
		"elimination": {1, 1.5e308, -1, 1.5e308},
	} {
		if f, err := factorize(context.Background(), 2, a, 1); !errors.Is(err, ErrOverflow) {
			t.Errorf("%s: got %v, %v, want ErrOverflow", name, f, err)
		}
	}
}

func TestACancelledFactorizationStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := randomMatrix(300, 1)
	last := a[len(a)-1]
	if _, err := factorize(ctx, 300, a, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if a[len(a)-1] != last {
		t.Error("the last stripe was worked on after the cancel")
	}
}

func TestRunSolvesTheBundledMatrices(t *testing.T) {
	for _, name := range []string{"pores_1.mtx", "lund_a.mtx"} {
		t.Run(name, func(t *testing.T) {
			cfg := DefaultConfig()
			cfg.Matrix = filepath.Join("testdata", name)
			cfg.Output = filepath.Join(t.TempDir(), "x.mtx")
			cfg.Threads, cfg.Repeat = 2, 3
			var report bytes.Buffer
			if err := Run(context.Background(), cfg, &report); err != nil {
				t.Fatal(err)
			}

			var condition, relative float64
			lines := strings.Split(report.String(), "\n")
			mustScan(t, lines[2], "condition %g", &condition)
			mustScan(t, lines[3], "residual %g", &relative)
			if !(relative < 1e-15) {
				t.Errorf("residual %v", relative)
			}
			if !strings.Contains(lines[4], "3 times") {
				t.Errorf("report's last line is %q", lines[4])
			}
			f, err := os.Open(cfg.Output)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			x, err := matrixmarket.Read(f, matrixmarket.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			// b is A*ones, so x is ones up to an error proportional to the condition.
			for i, v := range x.Values {
				if !(math.Abs(v-1) < condition*1e-15) {
					t.Errorf("x[%d] = %v, want 1 within %.1e", i, v, condition*1e-15)
				}
			}
		})
	}
}

func mustScan(t *testing.T, line, format string, to *float64) {
	t.Helper()
	if _, err := fmt.Sscanf(line, format, to); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
}

// writeFile writes text to a new file.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.mtx")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const twoByTwo = "%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n3\n"

func TestRunReadsTheRightHandSideFromAFile(t *testing.T) {
	cfg := Config{
		Matrix: writeFile(t, twoByTwo),
		RHS:    writeFile(t, "%%MatrixMarket matrix array integer general\n2 1\n3\n5\n"),
		Output: filepath.Join(t.TempDir(), "x.mtx"), Threads: 1, Repeat: 1,
	}
	if err := Run(context.Background(), cfg, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(cfg.Output)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(text))
	last := strings.Join(lines[len(lines)-4:], " ")
	if last != "2 1 0.8 1.4" && last != "2 1 0.7999999999999999 1.4" && last != "2 1 0.8 1.4000000000000001" {
		t.Errorf("solution file ends in %q, want 0.8 and 1.4", last)
	}
}

func TestRunRefusesFilesOfTheWrongSize(t *testing.T) {
	const head = "%%MatrixMarket matrix array real general\n"
	for _, tt := range []struct {
		name, matrix, rhs string
		argument, got     string
	}{
		{"not square", head + "1 2\n1\n2\n", "", "matrix", "1 x 2"},
		{"rhs too long", twoByTwo, head + "3 1\n1\n2\n3\n", "rhs", "3 x 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{
				Matrix: writeFile(t, tt.matrix), Output: filepath.Join(t.TempDir(), "x"), Threads: 1, Repeat: 1,
			}
			if tt.rhs != "" {
				cfg.RHS = writeFile(t, tt.rhs)
			}
			var refused *services.ArgumentError
			if err := Run(context.Background(), cfg, io.Discard); !errors.As(err, &refused) {
				t.Fatalf("got %v, want an ArgumentError", err)
			}
			if refused.Argument != tt.argument || refused.Got != tt.got {
				t.Errorf("got %v, want argument %s, got %s", refused, tt.argument, tt.got)
			}
		})
	}
}

func TestRunRefusesATooLargeMatrixByItsHeader(t *testing.T) {
	cfg := Config{Output: "x", Threads: 1, Repeat: 1}
	cfg.Matrix = writeFile(t, "%%MatrixMarket matrix coordinate real general\n1000000000000 1000000000000 1\n1 1 1\n")
	var parse *matrixmarket.ParseError
	if err := Run(context.Background(), cfg, io.Discard); !errors.As(err, &parse) || parse.Field != "rows" {
		t.Errorf("got %v, want a ParseError about rows", err)
	}
}

func TestRunLeavesNoOutputWhenItFails(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	missing := filepath.Join(t.TempDir(), "missing.mtx")
	singular := writeFile(t, "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n")
	overflow := writeFile(t, "%%MatrixMarket matrix array real general\n2 2\n1.7e308\n0\n1.7e308\n1\n")
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		matrix string
		want   error
	}{
		{"missing file", context.Background(), missing, fs.ErrNotExist},
		{"singular", context.Background(), singular, ErrSingular},
		{"A*ones overflows", context.Background(), overflow, ErrOverflow},
		{"cancelled", cancelled, "testdata/lund_a.mtx", context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := Config{Matrix: tt.matrix, Output: filepath.Join(dir, "x.mtx"), Threads: 2, Repeat: 1}
			if err := Run(tt.ctx, cfg, io.Discard); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestValidateReportsEveryProblem(t *testing.T) {
	err := Config{Threads: 0, Repeat: MaxRepeat + 1}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{
		"matrix: ", "output: ", "threads: got 0, accepted: 1 to 1024", "repeat: got 1000001",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

func BenchmarkFactorizeAndSolve(b *testing.B) {
	for _, n := range []int{100, 200, 400, 800} {
		a, rhs := randomMatrix(n, 1), randomMatrix(n, 2)[:n]
		work, x := make([]float64, n*n), make([]float64, n)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(b *testing.B) {
				for b.Loop() {
					copy(work, a)
					copy(x, rhs)
					f, err := factorize(context.Background(), n, work, threads)
					if err != nil {
						b.Fatal(err)
					}
					f.solve(x)
				}
			})
		}
	}
}
