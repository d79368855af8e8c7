package lu

import (
	"context"
	_ "embed" // for lundA
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/server/services"
	"github.com/seed-9b8f70bb/drover/server/services/matrixmarket"
)

// Run solves the system of cfg, writes the solution to cfg.Output and a report to stdout.
// It returns Validate's errors, *matrixmarket.ParseError, *services.ArgumentError for files
// of the wrong size, ErrSingular, ErrOverflow or ctx's error, all wrapped. On error it
// writes no output file.
//
// After ctx is cancelled, each thread finishes its unit of work, a few milliseconds, and
// stops.
func Run(ctx context.Context, cfg Config, stdout io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	a, listed, err := readMatrix(ctx, cfg.Matrix)
	if err != nil {
		return err
	}
	n := listed.Rows
	b, err := rightHandSide(ctx, cfg.RHS, n, a)
	if err != nil {
		return err
	}

	lu, x := make([]float64, len(a)), make([]float64, n)
	var condition float64
	began := time.Now()
	for range cfg.Repeat {
		copy(lu, a)
		f, err := factorize(ctx, n, lu, cfg.Threads)
		if err != nil {
			return fmt.Errorf("matrix %s: %w", cfg.Matrix, err)
		}
		copy(x, b)
		f.solve(x)
		condition = 1 / f.reciprocal
	}
	seconds := time.Since(began).Seconds()

	relative := residual(a, x, b)
	if math.IsNaN(relative) || slices.ContainsFunc(x, notFinite) {
		return fmt.Errorf("matrix %s: %w: in the solution", cfg.Matrix, ErrOverflow)
	}
	err = services.WriteOutput(cfg.Output, func(w io.Writer) error {
		return matrixmarket.Write(w, matrixmarket.NewVector(x),
			fmt.Sprintf("solution x of A x = b, relative residual %.2e", relative))
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout,
		"matrix     %v\nthreads    %d\ncondition  %.1e (1-norm, estimated)\nresidual   %.1e\n"+
			"seconds    %.6f (factorize and solve, %s)\n",
		listed, cfg.Threads, condition, relative, seconds, times(cfg.Repeat))
	return err
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// readMatrix reads the square matrix in the file. It returns the values row by row and the
// matrix as listed.
func readMatrix(ctx context.Context, path string) ([]float64, *matrixmarket.Matrix, error) {
	m, err := readFile(ctx, "matrix", path, MaxOrder)
	if err != nil {
		return nil, nil, err
	}
	if m.Rows != m.Cols {
		return nil, nil, &services.ArgumentError{
			Argument: "matrix",
			Got:      fmt.Sprintf("%d x %d", m.Rows, m.Cols),
			Accepted: "as many rows as columns",
		}
	}
	a, err := m.Dense()
	if err != nil {
		return nil, nil, fmt.Errorf("matrix %s: %w", path, err)
	}
	return a, m, nil
}

// rightHandSide reads the vector of length n in the file, or returns A*ones if there is no
// file.
func rightHandSide(ctx context.Context, path string, n int, a []float64) ([]float64, error) {
	if path == "" {
		b := make([]float64, n)
		for i := range b {
			for _, v := range a[i*n : (i+1)*n] {
				b[i] += v
			}
			if notFinite(b[i]) {
				return nil, fmt.Errorf("%w: the sum of row %d of the matrix", ErrOverflow, i+1)
			}
		}
		return b, nil
	}
	m, err := readFile(ctx, "rhs", path, 1)
	if err != nil {
		return nil, err
	}
	if m.Rows != n || m.Cols != 1 {
		return nil, &services.ArgumentError{
			Argument: "rhs",
			Got:      fmt.Sprintf("%d x %d", m.Rows, m.Cols),
			Accepted: fmt.Sprintf("%d x 1 beside a matrix of %d rows", n, n),
		}
	}
	b, err := m.Dense()
	if err != nil {
		return nil, fmt.Errorf("rhs %s: %w", path, err)
	}
	return b, nil
}

// readFile reads a Matrix Market file of at most MaxOrder rows.
func readFile(ctx context.Context, argument, path string, columns int) (*matrixmarket.Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argument, err)
	}
	defer f.Close() // read only
	m, err := matrixmarket.Read(cancelReader{ctx, f}, matrixmarket.Limits{
		Rows: MaxOrder, Cols: columns, Entries: MaxOrder * columns,
	})
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", argument, path, err)
	}
	return m, nil
}

// cancelReader returns ctx's error after ctx is cancelled.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Accepted ranges.
const (
	MaxOrder   = 8192 // unknowns: 512 MiB each for A and its factors
	MaxThreads = 1024
	MaxRepeat  = 1_000_000
)

// Config holds the arguments of the service.
type Config struct {
	Matrix  string // file of A: Matrix Market, square, at most MaxOrder rows
	RHS     string // file of b: Matrix Market, one column; empty: b = A*ones
	Output  string // file of the solution
	Threads int    // goroutines that factorize, 1 to MaxThreads
	Repeat  int    // number of solutions of the same system, 1 to MaxRepeat
}

// DefaultConfig solves once on one thread. It has no files.
func DefaultConfig() Config {
	return Config{Threads: 1, Repeat: 1}
}

// Validate reports every argument out of range, each as a
// *services.ArgumentError.
func (c Config) Validate() error {
	return errors.Join(
		services.CheckPath("matrix", c.Matrix),
		services.CheckPath("output", c.Output),
		services.CheckRange("threads", c.Threads, 1, MaxThreads),
		services.CheckRange("repeat", c.Repeat, 1, MaxRepeat),
	)
}

//go:embed testdata/lund_a.mtx
var lundA []byte

// LundA returns a copy of the Matrix Market file LUND A, a symmetric system of 147 unknowns
// from structural engineering, as an example matrix.
func LundA() []byte { return slices.Clone(lundA) }
