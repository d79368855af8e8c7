package sim

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// amdahl is a speedup by Amdahl's law, 1 / ((1-P) + P/N), with the parallel part
// P in millionths: everything that follows from it is a fraction of integers.
type amdahl struct {
	parallel int64
	limit    int32 // the most processors it is run on
}

const millionths = 1_000_000

// serial returns N times the inverse of the speedup on N processors, in
// millionths: that many processors take serial/N of the time that one takes.
func (a amdahl) serial(width int32) uint64 {
	return uint64(millionths-a.parallel)*uint64(width) + uint64(a.parallel)
}

// menu appends the shapes of a job that has been traced on so many processors, at
// least 2, with a walltime: all widths from 1 to the limit and the widest site,
// at speed 1.0. The walltime on one processor is the traced one times the
// speedup, that on n this over the speedup of n,
//
//	traced × (n / speedup of n) / n × speedup of the traced width
//
// rounded up to whole seconds, once. The traced width may exceed the limit: the
// law goes on there, it is only that nobody runs it so.
func (a amdahl) menu(dst []batch.Shape, walltime batch.Duration, traced, widest int32) []batch.Shape {
	work := uint64(walltime.CeilSeconds()/batch.Second) * uint64(traced)
	over := a.serial(traced)
	for n := int32(1); n <= min(a.limit, widest); n++ {
		dst = append(dst, batch.Shape{Width: n, Walltime: quotient(work, a.serial(n), uint64(n)*over)})
	}
	return dst
}

// quotient returns x × num / den seconds, rounded up. What is beyond time is
// batch.Forever.
func quotient(x, num, den uint64) batch.Duration {
	hi, lo := bits.Mul64(x, num)
	if hi >= den {
		return batch.Forever
	}
	q, r := bits.Div64(hi, lo, den)
	if r > 0 {
		q++
	}
	if q > uint64(batch.Forever/batch.Second) {
		return batch.Forever
	}
	return batch.Duration(q) * batch.Second
}

// ratio returns how long a job runs that was traced with a runtime and a walltime
// and has got another walltime: the same part of it, rounded to the nearest
// second, halves up.
func ratio(runtime, walltime, got batch.Duration) batch.Duration {
	if got == batch.Forever {
		return batch.Forever
	}
	r, w, g := uint64(runtime/batch.Second), uint64(walltime/batch.Second), uint64(got/batch.Second)
	hi, lo := bits.Mul64(2*r, g)
	lo, carry := bits.Add64(lo, w, 0)
	if hi += carry; hi >= 2*w {
		return batch.Forever
	}
	q, _ := bits.Div64(hi, lo, 2*w)
	if q > uint64(batch.Forever/batch.Second) {
		return batch.Forever
	}
	return batch.Duration(q) * batch.Second
}
