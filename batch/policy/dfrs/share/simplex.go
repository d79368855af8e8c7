package share

import "math"

const (
	tiny     = 1e-9  // what is smaller is taken for rounding
	standing = 1e-12 // a step that is shorter goes nowhere
	patience = 40    // such steps in a row, before they are chosen so that they end
)

// simplex maximizes a sum under constraints that the origin meets, with the primal
// simplex method for bounded variables.
//
// The table has a line for each basic variable (at first the slack of each row)
// and a column for each variable at a bound. A variable at its upper bound is
// mirrored, so that all those are 0: x = upper - mirrored. To step is to raise the
// column that promises most, until it reaches its own upper bound, and is mirrored,
// or a basic variable reaches one of its bounds, and the two change places. After
// many steps that go nowhere, lowest numbers are chosen (Bland's rule), which
// cannot go round in circles; after very many altogether the method ends where it is,
// which fits, but may not be the largest.
//
// Each product is rounded by itself (no fused multiply-add), so that the path is
// the same on every machine.
type simplex struct {
	m, n  int
	cells []float64 // m lines of n
	free  []float64 // values of the basic variables, by line
	worth []float64 // by column: what a unit of it adds
	upper []float64 // of variables: first of the columns, then of the slacks
	norm  []float64 // by column: its length at the start, squared

	basic, column []int32 // which variable
	mirrored      []bool  // by variable
	value         []float64
}

// begin makes room for a program; the cells are 0.
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

// grown returns a slice of a length, all zero, in the memory of one if it is enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// solve leaves the best values of the columns in value.
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

// measure sets the lengths of the columns.
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

// enter returns the column to raise, or -1 when none promises anything.
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

// leave returns the line that stops column c, and how far it goes; -1 when that is
// its own upper bound.
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
		case t >= step-standing && line >= 0: // no nearer: the one that is safer
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

// mirror takes column c to its other bound.
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

// pivot changes the places of column c and the basic variable of a line.
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

// subtract takes factor times a row from another.
func subtract(from, row []float64, factor float64) {
	from = from[:len(row)]
	for i, cell := range row {
		from[i] -= float64(factor * cell)
	}
}

// read sets the values of the first variables, the columns as they were.
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
