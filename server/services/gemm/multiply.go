package gemm

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	panelRows    = 128 // rows of B in a panel
	panelCols    = 256 // columns of B in a panel: with its rows 256 KiB, for the second-level cache
	stripeHeight = 32  // rows of C in one thread's piece of work
	group        = 4   // rows of C that share what is read of a panel
)

// multiply makes c alpha a b + beta c on the given number of goroutines. It returns ctx's
// error, wrapped; c is then neither.
func multiply(ctx context.Context, alpha float64, a, b matrix, beta float64, c matrix, threads int) error {
	stripes := (c.rows + stripeHeight - 1) / stripeHeight
	var taken atomic.Int64
	work := func() {
		for {
			i := int(taken.Add(1)) - 1
			if i >= stripes {
				return
			}
			from := i * stripeHeight
			if !stripe(ctx, alpha, a, b, beta, c, from, min(from+stripeHeight, c.rows)) {
				return
			}
		}
	}
	var others sync.WaitGroup
	for range min(threads, stripes) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("multiply: %w", err)
	}
	return nil
}

// stripe computes the rows from..to of c; false if ctx ended first.
func stripe(ctx context.Context, alpha float64, a, b matrix, beta float64, c matrix, from, to int) bool {
	scale(beta, c.data[from*c.cols:to*c.cols])
	if alpha == 0 { // neither is read, so that no NaN in them matters
		return true
	}
	for top := 0; top < b.rows; top += panelRows {
		bottom := min(top+panelRows, b.rows)
		for left := 0; left < b.cols; left += panelCols {
			if ctx.Err() != nil {
				return false
			}
			right := min(left+panelCols, b.cols)
			i := from
			for ; i+group <= to; i += group {
				four(alpha, a, b, c, i, top, bottom, left, right)
			}
			for ; i < to; i++ {
				one(alpha, a, b, c, i, top, bottom, left, right)
			}
		}
	}
	return true
}

// scale multiplies c by beta. Where that is 0 c is not read: what it was may be no number.
func scale(beta float64, c []float64) {
	switch beta {
	case 0:
		clear(c)
	case 1:
	default:
		for j := range c {
			c[j] *= beta
		}
	}
}

// four adds a panel's part of the product to four rows of c from row i on. The explicit
// conversions keep the compiler from fusing a product with its sum, on machines where it
// would: so all machines, and one, compute the same.
func four(alpha float64, a, b, c matrix, i, top, bottom, left, right int) {
	c0 := c.data[i*c.cols+left : i*c.cols+right]
	c1 := c.data[(i+1)*c.cols+left : (i+1)*c.cols+right][:len(c0)]
	c2 := c.data[(i+2)*c.cols+left : (i+2)*c.cols+right][:len(c0)]
	c3 := c.data[(i+3)*c.cols+left : (i+3)*c.cols+right][:len(c0)]
	for p := top; p < bottom; p++ {
		a0, a1 := alpha*a.data[i*a.cols+p], alpha*a.data[(i+1)*a.cols+p]
		a2, a3 := alpha*a.data[(i+2)*a.cols+p], alpha*a.data[(i+3)*a.cols+p]
		row := b.data[p*b.cols+left : p*b.cols+right][:len(c0)]
		for j, v := range row {
			c0[j] += float64(a0 * v)
			c1[j] += float64(a1 * v)
			c2[j] += float64(a2 * v)
			c3[j] += float64(a3 * v)
		}
	}
}

// one is four for one row.
func one(alpha float64, a, b, c matrix, i, top, bottom, left, right int) {
	c0 := c.data[i*c.cols+left : i*c.cols+right]
	for p := top; p < bottom; p++ {
		a0 := alpha * a.data[i*a.cols+p]
		for j, v := range b.data[p*b.cols+left : p*b.cols+right][:len(c0)] {
			c0[j] += float64(a0 * v)
		}
	}
}
