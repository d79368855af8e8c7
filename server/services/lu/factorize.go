package lu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// ErrSingular reports that a matrix is singular to the precision of float64.
var ErrSingular = errors.New("matrix is singular")

// ErrOverflow reports that a result exceeds float64.
var ErrOverflow = errors.New("numbers too large for float64")

const (
	panelWidth  = 48  // columns factorized at once
	stripeWidth = 64  // columns of one unit of work of a thread
	tileHeight  = 192 // rows of one product, so few that gonum uses only the calling goroutine
)

// factors holds P A = L U: L below the diagonal (its diagonal is 1), U on and above it.
type factors struct {
	lu         blas64.General
	pivots     []int   // row i was swapped with row pivots[i], in this order
	reciprocal float64 // 1/(estimated condition in the 1-norm)
}

// factorize factorizes the n x n row-major matrix a in place on the given
// number of goroutines. It returns ErrSingular, ErrOverflow or ctx's error,
// each wrapped.
func factorize(ctx context.Context, n int, a []float64, threads int) (*factors, error) {
	f := &factors{
		lu:     blas64.General{Rows: n, Cols: n, Stride: n, Data: a},
		pivots: make([]int, n),
	}
	norm := lapack64.Lange(lapack.MaxColumnSum, f.lu, make([]float64, n))
	if math.IsInf(norm, 0) || math.IsNaN(norm) {
		return nil, fmt.Errorf("%w: the 1-norm of the matrix", ErrOverflow)
	}

	for left := 0; left < n; left += panelWidth {
		right := min(left+panelWidth, n)
		if err := f.panel(left, right); err != nil {
			return nil, err
		}
		if err := f.update(ctx, left, right, threads); err != nil {
			return nil, err
		}
	}
	for _, v := range a {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("%w: while factorizing", ErrOverflow)
		}
	}

	f.reciprocal = lapack64.Gecon(lapack.MaxColumnSum, f.lu, norm, make([]float64, 4*n), make([]int, n))
	if !(f.reciprocal >= epsilon) {
		return nil, fmt.Errorf("%w to working precision: estimated condition %.1e, accepted: at most %.1e",
			ErrSingular, 1/f.reciprocal, 1/epsilon)
	}
	return f, nil
}

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

// panel factorizes the columns left..right from row left down.
func (f *factors) panel(left, right int) error {
	n := f.lu.Rows
	if !lapack64.Getrf(f.block(left, left, n, right), f.pivots[left:right]) {
		for i := left; i < right; i++ {
			if f.lu.Data[i*n+i] == 0 {
				return fmt.Errorf("%w: no pivot is left for column %d", ErrSingular, i+1)
			}
		}
	}
	for i := left; i < right; i++ {
		f.pivots[i] += left
	}
	return nil
}

// update applies the panel left..right to the other columns: the row swaps to the
// factorized columns, the row swaps and the elimination to the remaining ones.
func (f *factors) update(ctx context.Context, left, right, threads int) error {
	n := f.lu.Rows
	stripes := (n - right + stripeWidth - 1) / stripeWidth
	var taken atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(taken.Add(1)) - 1
			if i > stripes {
				return
			}
			if i == stripes { // the columns left of the panel, as the last unit of work
				f.swapRows(left, right, 0, left)
				continue
			}
			from := right + i*stripeWidth
			f.eliminate(left, right, from, min(from+stripeWidth, n))
		}
	}

	var others sync.WaitGroup
	for range min(threads, stripes) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("factorize: stopped at column %d of %d: %w", left, n, err)
	}
	return nil
}

// eliminate applies the panel left..right to the columns from..to.
func (f *factors) eliminate(left, right, from, to int) {
	f.swapRows(left, right, from, to)
	top := f.block(left, from, right, to)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, f.triangle(left, right, blas.Lower, blas.Unit), top)
	for row := right; row < f.lu.Rows; row += tileHeight {
		end := min(row+tileHeight, f.lu.Rows)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, f.block(row, left, end, right), top, 1, f.block(row, from, end, to))
	}
}

// swapRows applies the pivots left..right to the columns from..to.
func (f *factors) swapRows(left, right, from, to int) {
	n := f.lu.Stride
	for i := left; i < right; i++ {
		p := f.pivots[i]
		if p == i {
			continue
		}
		upper, lower := f.lu.Data[i*n+from:i*n+to], f.lu.Data[p*n+from:p*n+to]
		for k, v := range upper {
			upper[k], lower[k] = lower[k], v
		}
	}
}

// solve replaces b by the solution x of A x = b.
func (f *factors) solve(b []float64) {
	for i, p := range f.pivots {
		b[i], b[p] = b[p], b[i]
	}
	x := blas64.Vector{N: len(b), Inc: 1, Data: b}
	blas64.Trsv(blas.NoTrans, f.triangle(0, len(b), blas.Lower, blas.Unit), x)
	blas64.Trsv(blas.NoTrans, f.triangle(0, len(b), blas.Upper, blas.NonUnit), x)
}

// block returns a view of rows top..bottom, columns left..right.
func (f *factors) block(top, left, bottom, right int) blas64.General {
	n := f.lu.Stride
	return blas64.General{
		Rows: bottom - top, Cols: right - left, Stride: n,
		Data: f.lu.Data[top*n+left : (bottom-1)*n+right],
	}
}

// triangle returns a view of one triangle of the diagonal block from..to.
func (f *factors) triangle(from, to int, half blas.Uplo, diagonal blas.Diag) blas64.Triangular {
	n := f.lu.Stride
	return blas64.Triangular{
		Uplo: half, Diag: diagonal, N: to - from, Stride: n,
		Data: f.lu.Data[from*n+from : (to-1)*n+to],
	}
}

// residual returns the normwise backward error of x as a solution of A x = b,
// in infinity norms; 0 when all three are zero. a is row-major.
func residual(a, x, b []float64) float64 {
	n := len(x)
	var difference, normA float64
	for i, row := 0, a; i < n; i, row = i+1, row[n:] {
		sum, size := -b[i], 0.0
		for j, v := range row[:n] {
			sum += v * x[j]
			size += math.Abs(v)
		}
		difference = max(difference, math.Abs(sum)) // max keeps NaN
		normA = max(normA, size)
	}
	if difference == 0 {
		return 0
	}
	// Dividing by ||A|| first avoids an overflow of the product.
	return difference / normA / (maxAbs(x) + maxAbs(b)/normA)
}

func maxAbs(v []float64) float64 {
	largest := 0.0
	for _, e := range v {
		largest = max(largest, math.Abs(e))
	}
	return largest
}
