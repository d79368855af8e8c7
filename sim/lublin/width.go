package lublin

import "math"

// widths draws how many processors a job gets.
type widths struct {
	serial, parallel  float64 // cumulative: serial, then powers of two, then the rest
	low, middle, high float64
	first             float64
	widest            int32
}

// fit ties a class's uniforms to a machine, as the authors ask for: high is that
// of the machine (interactive jobs stay a factor of 2^1.5 below it, as in the
// published machine), and middle keeps its distance from high. On machines of
// less than some 32 processors that would leave little of the first uniform, or
// nothing, so it keeps a third of the range: 1.5 for 8 processors, which is the
// authors' own example.
func fit(p *parameters, procs int) widths {
	w := widths{serial: p.serial, parallel: p.serial + p.powerOfTwo, first: p.first}
	if procs == 1 {
		w.serial, w.widest = 1, 1
		return w
	}
	machine := log2(float64(procs))
	w.high = max(machine-(published-p.high), min(machine, p.low))
	w.low = min(p.low, w.high)
	w.middle = max(w.high-(p.high-p.middle), w.low+(w.high-w.low)/3)
	w.widest = min(int32(procs), rounded(exp2(w.high)))
	return w
}

// draw draws a width.
func (w *widths) draw(r *random) int32 {
	u := r.uniform()
	if u < w.serial {
		return 1
	}
	for {
		x := w.logarithm(r)
		if u < w.parallel {
			x = math.Floor(x + 0.5)
		}
		if n := rounded(exp2(x)); n <= w.widest {
			return n
		}
	}
}

// logarithm draws from one of the two uniforms.
func (w *widths) logarithm(r *random) float64 {
	from, to := w.low, w.middle
	if r.uniform() >= w.first {
		from, to = w.middle, w.high
	}
	return from + float64(r.uniform()*(to-from))
}

func rounded(x float64) int32 { return int32(math.Floor(x + 0.5)) }
