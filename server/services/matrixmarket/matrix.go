package matrixmarket

import (
	"fmt"
	"math"
	"strings"
)

// Format says how a file lists a matrix.
type Format string

// Field says what kind of values a file holds.
type Field string

// Symmetry says which part of a matrix a file holds.
type Symmetry string

// The words of the header line that are understood.
const (
	Coordinate Format = "coordinate" // entries with their positions, the rest zero
	Array      Format = "array"      // all values, column by column

	Real    Field = "real"
	Integer Field = "integer" // -MaxInteger..MaxInteger, exact as float64
	Pattern Field = "pattern" // positions only; each stands for the value 1

	General       Symmetry = "general"
	Symmetric     Symmetry = "symmetric"      // lower triangle with diagonal
	SkewSymmetric Symmetry = "skew-symmetric" // lower triangle without diagonal
)

// MaxInteger is the largest magnitude of an integer value: beyond it float64
// skips integers.
const MaxInteger = 1 << 53

// MaxDense is the largest number of values Dense will lay out (1 GiB).
const MaxDense = 1 << 27

// Entry is one listed position of a coordinate matrix, counted from 0.
type Entry struct {
	Row, Col int
	Value    float64
}

// Matrix is a matrix as its file lists it: the mirrored half of a symmetric
// matrix is not stored, zeros that are listed are kept, and so is their order.
type Matrix struct {
	Format     Format
	Field      Field
	Symmetry   Symmetry
	Rows, Cols int

	Entries []Entry   // coordinate: in the file's order
	Values  []float64 // array: column by column, of each column the stored part
}

// NewVector returns the real general n x 1 array matrix that shares values.
func NewVector(values []float64) *Matrix {
	return &Matrix{
		Format: Array, Field: Real, Symmetry: General,
		Rows: len(values), Cols: 1, Values: values,
	}
}

// Listed returns the number of entries or values the file lists.
func (m *Matrix) Listed() int {
	if m.Format == Array {
		return len(m.Values)
	}
	return len(m.Entries)
}

// Dense returns all Rows*Cols values row by row, the mirrored half of
// symmetric matrices included. Entries that repeat a position are summed, as
// codes that assemble matrices piece by piece mean it. It fails when there are
// more than MaxDense values.
func (m *Matrix) Dense() ([]float64, error) {
	if m.Cols > 0 && m.Rows > MaxDense/m.Cols {
		return nil, fmt.Errorf("%d x %d values laid out densely: accepted are at most %d", m.Rows, m.Cols, MaxDense)
	}
	dense := make([]float64, m.Rows*m.Cols)
	add := func(row, col int, value float64) {
		dense[row*m.Cols+col] += value
		if row == col {
			return
		}
		switch m.Symmetry {
		case Symmetric:
			dense[col*m.Cols+row] += value
		case SkewSymmetric:
			dense[col*m.Cols+row] -= value
		}
	}
	if m.Format == Coordinate {
		for _, e := range m.Entries {
			add(e.Row, e.Col, e.Value)
		}
		return dense, nil
	}
	next := 0
	for col := range m.Cols {
		for row := m.firstRow(col); row < m.Rows; row++ {
			add(row, col, m.Values[next])
			next++
		}
	}
	return dense, nil
}

// firstRow returns the first row of a column that an array file stores.
func (m *Matrix) firstRow(col int) int {
	switch m.Symmetry {
	case Symmetric:
		return col
	case SkewSymmetric:
		return col + 1
	default:
		return 0
	}
}

// stored returns how many positions of a Rows x Cols matrix may be listed,
// which is exactly what an array file lists. It saturates at MaxInt.
func (m *Matrix) stored() int {
	switch m.Symmetry {
	case Symmetric:
		return saturatingHalf(m.Rows, m.Rows+1)
	case SkewSymmetric:
		return saturatingHalf(m.Rows, m.Rows-1)
	}
	if m.Cols > 0 && m.Rows > math.MaxInt/m.Cols {
		return math.MaxInt
	}
	return m.Rows * m.Cols
}

// saturatingHalf returns a*b/2 for neighbours a and b, at most MaxInt.
func saturatingHalf(a, b int) int {
	if b <= 0 {
		return 0
	}
	if a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b / 2
}

// Validate reports whether m is something Write can write and Read will read
// back the same.
func (m *Matrix) Validate() error {
	if err := m.validateHeader(); err != nil {
		return err
	}
	if m.Rows < 1 || m.Cols < 1 {
		return fmt.Errorf("size: %d x %d, accepted are at least 1 row and 1 column", m.Rows, m.Cols)
	}
	if m.Symmetry != General && m.Rows != m.Cols {
		return fmt.Errorf("size: a %s matrix is square, not %d x %d", m.Symmetry, m.Rows, m.Cols)
	}
	if m.Format == Array {
		return m.validateValues()
	}
	return m.validateEntries()
}

// validateHeader checks the three words and that they go together.
func (m *Matrix) validateHeader() error {
	switch m.Format {
	case Coordinate, Array:
	default:
		return fmt.Errorf("format: %q, accepted are coordinate and array", m.Format)
	}
	switch m.Field {
	case Real, Integer, Pattern:
	default:
		return fmt.Errorf("field: %q, accepted are real, integer and pattern", m.Field)
	}
	switch m.Symmetry {
	case General, Symmetric, SkewSymmetric:
	default:
		return fmt.Errorf("symmetry: %q, accepted are general, symmetric and skew-symmetric", m.Symmetry)
	}
	if m.Field == Pattern && m.Format == Array {
		return fmt.Errorf("field: pattern goes with coordinate only")
	}
	if m.Field == Pattern && m.Symmetry == SkewSymmetric {
		return fmt.Errorf("symmetry: a pattern is general or symmetric, not skew-symmetric")
	}
	return nil
}

func (m *Matrix) validateValues() error {
	if len(m.Entries) > 0 {
		return fmt.Errorf("entries: an array matrix has values only")
	}
	if want := m.stored(); len(m.Values) != want {
		return fmt.Errorf("values: %d, a %s %d x %d array lists %d", len(m.Values), m.Symmetry, m.Rows, m.Cols, want)
	}
	for i, v := range m.Values {
		if err := m.checkValue(v); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

func (m *Matrix) validateEntries() error {
	if len(m.Values) > 0 {
		return fmt.Errorf("values: a coordinate matrix has entries only")
	}
	for i, e := range m.Entries {
		if e.Row < 0 || e.Row >= m.Rows || e.Col < 0 || e.Col >= m.Cols {
			return fmt.Errorf("entry %d: position (%d, %d) is outside %d x %d", i, e.Row, e.Col, m.Rows, m.Cols)
		}
		if err := m.checkTriangle(e.Row, e.Col); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if err := m.checkValue(e.Value); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

// checkTriangle refuses positions that the symmetry says are not listed.
func (m *Matrix) checkTriangle(row, col int) error {
	switch {
	case m.Symmetry == Symmetric && row < col:
		return fmt.Errorf("above the diagonal; a symmetric file lists row >= column")
	case m.Symmetry == SkewSymmetric && row <= col:
		return fmt.Errorf("not below the diagonal; a skew-symmetric file lists row > column")
	}
	return nil
}

// checkValue refuses what the field cannot express.
func (m *Matrix) checkValue(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v is not finite", v)
	case m.Field == Integer && (v != math.Trunc(v) || math.Abs(v) > MaxInteger):
		return fmt.Errorf("%v, accepted are integers from %d to %d", v, -MaxInteger, MaxInteger)
	case m.Field == Pattern && v != 1:
		return fmt.Errorf("%v, a pattern's value is 1", v)
	}
	return nil
}

// header returns the matrix's words as in a file.
func (m *Matrix) header() string {
	return strings.Join([]string{string(m.Format), string(m.Field), string(m.Symmetry)}, " ")
}

// String describes the matrix in a line: its size and its header's words.
func (m *Matrix) String() string {
	return fmt.Sprintf("%d x %d, %d listed (%s)", m.Rows, m.Cols, m.Listed(), m.header())
}
