package share

import "math"

const (
	tiny     = 1e-9  // smaller values count as rounding errors
	standing = 1e-12 // a shorter step makes no progress
	patience = 40    // number of such steps in a row before Bland's rule applies
)

// simplex maximizes a sum under constraints that the origin satisfies, with the primal simplex
// method for bounded variables.
//
// The table has a line for each basic variable (initially the slack of each row) and a column
// for each variable at a bound. A variable at its upper bound is mirrored, x = upper -
// mirrored, so that all nonbasic variables are 0. A step raises the column with the best gain
// until it reaches its own upper bound, and mirrors it, or until a basic variable reaches one
// of its bounds, and swaps the two. After many steps without progress, the lowest numbers are
// chosen (Bland's rule), which prevents cycles. After a very large number of steps the method
// stops at its current solution, which is feasible but may not be optimal.
//
// Each product is rounded separately (no fused multiply-add), so that every machine takes the
// same path.
type simplex struct {
	m, n  int
	cells []float64 // m lines of n
	free  []float64 // values of the basic variables, by line
	worth []float64 // by column: gain per unit
	upper []float64 // of variables: first the columns, then the slacks
	norm  []float64 // by column: its initial length, squared

	basic, column []int32 // variable numbers
	mirrored      []bool  // by variable
	value         []float64
}

// begin sizes a program and sets its cells to 0.
func (s *simplex) begin(rows, columns int) {
	s.m, s.n = rows, columns
	s.cells = grown(s.cells, rows*columns)
	s.free = grown(s.free, rows)
	s.worth = grown(s.worth, columns)
	s.norm = grown(s.norm, columns)
	s.value = grown(s.value, columns)
	s.upper = grown(s.upper, rows+columns)
	s.basic = grown(s.basic, rows)
	s.column = grown(s.column, columns)
	s.mirrored = grown(s.mirrored, rows+columns)
	for i := range s.basic {
		s.basic[i] = int32(columns + i)
		s.upper[columns+i] = math.Inf(1)
	}
	for c := range s.column {
		s.column[c] = int32(c)
	}
}

// grown returns a zeroed slice of n elements. It reuses the memory of s if possible.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// solve computes the optimal values of the columns in value.
func (s *simplex) solve() {
	s.measure()
	stuck := 0
	for range 50 * (s.m + s.n) {
		bland := stuck > patience
		c := s.enter(bland)
		if c < 0 {
			break
		}
		line, step := s.leave(c, bland)
		if step < standing {
			stuck++
		} else {
			stuck = 0
		}
		if line < 0 {
			s.mirror(c)
		} else {
			s.pivot(line, c)
		}
	}
	s.read()
}

// measure computes the lengths of the columns.
func (s *simplex) measure() {
	for c := range s.norm {
		s.norm[c] = 1
	}
	for r := range s.m {
		for c, cell := range s.line(r) {
			s.norm[c] += float64(cell * cell)
		}
	}
}

func (s *simplex) line(r int) []float64 { return s.cells[r*s.n : (r+1)*s.n] }

// enter returns the column to raise, or -1 if none gains.
func (s *simplex) enter(bland bool) int {
	best, most := -1, 0.0
	for c, w := range s.worth {
		if w <= tiny {
			continue
		}
		if bland {
			if best < 0 || s.column[c] < s.column[best] {
				best = c
			}
			continue
		}
		if gain := float64(w*w) / s.norm[c]; gain > most {
			best, most = c, gain
		}
	}
	return best
}

// leave returns the line that limits column c, and the step length; the line is -1 if the
// column's own upper bound limits it.
func (s *simplex) leave(c int, bland bool) (line int, step float64) {
	line, step = -1, s.upper[s.column[c]]
	var pivot float64
	for r, at := 0, c; r < s.m; r, at = r+1, at+s.n {
		cell := s.cells[at]
		size := math.Abs(cell)
		if size <= tiny {
			continue
		}
		way := s.free[r]
		if cell < 0 {
			way = s.upper[s.basic[r]] - way // infinite for a slack
		}
		t := max(way, 0) / size
		switch {
		case t > step+standing:
			continue
		case t >= step-standing && line >= 0: // not shorter, and numerically safer
			if bland && s.basic[r] > s.basic[line] || !bland && size <= pivot {
				continue
			}
		case t >= step-standing:
			continue
		}
		line, step, pivot = r, min(t, step), size
	}
	return line, step
}

// mirror moves column c to its other bound.
func (s *simplex) mirror(c int) {
	v := s.column[c]
	u := s.upper[v]
	for r, at := 0, c; r < s.m; r, at = r+1, at+s.n {
		if cell := s.cells[at]; cell < 0 || cell > 0 {
			s.free[r] -= float64(cell * u)
			s.cells[at] = -cell
		}
	}
	s.worth[c] = -s.worth[c]
	s.mirrored[v] = !s.mirrored[v]
}

// pivot swaps column c and the basic variable of a line.
func (s *simplex) pivot(line, c int) {
	row := s.line(line)
	if row[c] < 0 { // it leaves at its upper bound: mirrored, at 0
		v := s.basic[line]
		s.free[line] = s.upper[v] - s.free[line]
		for i := range row {
			row[i] = -row[i]
		}
		s.mirrored[v] = !s.mirrored[v]
	}
	s.free[line] = max(s.free[line], 0)
	by := row[c]
	row[c] = 1
	for i := range row {
		row[i] /= by
	}
	s.free[line] /= by
	for r := range s.m {
		if r == line {
			continue
		}
		other := s.line(r)
		factor := other[c]
		if factor <= 0 && factor >= 0 {
			continue
		}
		other[c] = 0
		subtract(other, row, factor)
		s.free[r] -= float64(factor * s.free[line])
	}
	factor := s.worth[c]
	s.worth[c] = 0
	subtract(s.worth, row, factor)
	s.basic[line], s.column[c] = s.column[c], s.basic[line]
}

// subtract subtracts factor times a row from another row.
func subtract(from, row []float64, factor float64) {
	from = from[:len(row)]
	for i, cell := range row {
		from[i] -= float64(factor * cell)
	}
}

// read computes the values of the original columns.
func (s *simplex) read() {
	clear(s.value)
	for r, v := range s.basic {
		if int(v) < s.n {
			s.value[v] = min(max(s.free[r], 0), s.upper[v])
		}
	}
	for v := range s.n {
		if s.mirrored[v] {
			s.value[v] = s.upper[v] - s.value[v]
		}
	}
}
