package gemm

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	panelRows    = 128 // rows of B in a panel
	panelCols    = 256 // columns of B in a panel; a panel has 256 KiB and fits the second-level cache
	stripeHeight = 32  // rows of C in one unit of work of a thread
	group        = 4   // rows of C that share the reads of a panel
)

// multiply sets c to alpha a b + beta c on the given number of goroutines. It returns
// ctx's error, wrapped; c is then invalid.
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

// stripe computes the rows from..to of c; false if ctx was cancelled before.
func stripe(ctx context.Context, alpha float64, a, b matrix, beta float64, c matrix, from, to int) bool {
	scale(beta, c.data[from*c.cols:to*c.cols])
	if alpha == 0 { // do not read a and b: they can hold NaN
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

// scale multiplies c by beta. If beta is 0 it does not read c, which can hold NaN.
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
// conversions forbid fused multiply-add, so all machines, and function one, compute the
// same bits.
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

// one does the same as four for one row.
func one(alpha float64, a, b, c matrix, i, top, bottom, left, right int) {
	c0 := c.data[i*c.cols+left : i*c.cols+right]
	for p := top; p < bottom; p++ {
		a0 := alpha * a.data[i*a.cols+p]
		for j, v := range b.data[p*b.cols+left : p*b.cols+right][:len(c0)] {
			c0[j] += float64(a0 * v)
		}
	}
}
