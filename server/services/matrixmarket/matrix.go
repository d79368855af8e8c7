package matrixmarket

import (
	"fmt"
	"math"
	"strings"
)

// Format is the way in which a file lists a matrix.
type Format string

// Field is the kind of values in a file.
type Field string

// Symmetry determines the part of a matrix that a file holds.
type Symmetry string

// The supported words of the header line.
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

// MaxInteger is the largest magnitude of an integer value. Float64 cannot represent all
// integers beyond it.
const MaxInteger = 1 << 53

// MaxDense is the largest number of values for which Dense works (1 GiB).
const MaxDense = 1 << 27

// Entry is an entry of a coordinate matrix. Positions count from 0.
type Entry struct {
	Row, Col int
	Value    float64
}

// Matrix is a matrix in the form of its file: without the mirrored half of a symmetric
// matrix, with all listed zeros, and in the file's order.
type Matrix struct {
	Format     Format
	Field      Field
	Symmetry   Symmetry
	Rows, Cols int

	Entries []Entry   // coordinate: in the file's order
	Values  []float64 // array: column by column, the stored part of each
}

// NewVector returns the real general n x 1 array matrix that shares values.
func NewVector(values []float64) *Matrix {
	return &Matrix{
		Format: Array, Field: Real, Symmetry: General,
		Rows: len(values), Cols: 1, Values: values,
	}
}

// Listed returns the number of entries or values in the file.
func (m *Matrix) Listed() int {
	if m.Format == Array {
		return len(m.Values)
	}
	return len(m.Entries)
}

// Dense returns all Rows*Cols values row by row, including the mirrored half of symmetric
// matrices. It sums entries with the same position, as codes that assemble matrices expect.
// It fails if there are more than MaxDense values.
func (m *Matrix) Dense() ([]float64, error) {
	if m.Cols > 0 && m.Rows > MaxDense/m.Cols {
		return nil, fmt.Errorf("dense matrix of %d x %d values, accepted: at most %d", m.Rows, m.Cols, MaxDense)
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

// stored returns the number of positions that a file of this symmetry can list, which is
// the number of values of an array file. It saturates at MaxInt.
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

// Validate returns an error unless Write can write m and Read then returns the same
// matrix.
func (m *Matrix) Validate() error {
	if err := m.validateHeader(); err != nil {
		return err
	}
	if m.Rows < 1 || m.Cols < 1 {
		return fmt.Errorf("size: %d x %d, accepted: at least 1 row and 1 column", m.Rows, m.Cols)
	}
	if m.Symmetry != General && m.Rows != m.Cols {
		return fmt.Errorf("size: a %s matrix of %d x %d, accepted: square", m.Symmetry, m.Rows, m.Cols)
	}
	if m.Format == Array {
		return m.validateValues()
	}
	return m.validateEntries()
}

// validateHeader checks the three words of the header and their combination.
func (m *Matrix) validateHeader() error {
	switch m.Format {
	case Coordinate, Array:
	default:
		return fmt.Errorf("format: %q, accepted: coordinate and array", m.Format)
	}
	switch m.Field {
	case Real, Integer, Pattern:
	default:
		return fmt.Errorf("field: %q, accepted: real, integer and pattern", m.Field)
	}
	switch m.Symmetry {
	case General, Symmetric, SkewSymmetric:
	default:
		return fmt.Errorf("symmetry: %q, accepted: general, symmetric and skew-symmetric", m.Symmetry)
	}
	if m.Field == Pattern && m.Format == Array {
		return fmt.Errorf("field: pattern requires the coordinate format")
	}
	if m.Field == Pattern && m.Symmetry == SkewSymmetric {
		return fmt.Errorf("symmetry: skew-symmetric, accepted for a pattern: general and symmetric")
	}
	return nil
}

func (m *Matrix) validateValues() error {
	if len(m.Entries) > 0 {
		return fmt.Errorf("entries: an array matrix has only values")
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
		return fmt.Errorf("values: a coordinate matrix has only entries")
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

// checkTriangle refuses positions that files of this symmetry do not list.
func (m *Matrix) checkTriangle(row, col int) error {
	switch {
	case m.Symmetry == Symmetric && row < col:
		return fmt.Errorf("above the diagonal, accepted in a symmetric file: row >= column")
	case m.Symmetry == SkewSymmetric && row <= col:
		return fmt.Errorf("not below the diagonal, accepted in a skew-symmetric file: row > column")
	}
	return nil
}

// checkValue refuses values that the field cannot represent.
func (m *Matrix) checkValue(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v is not finite", v)
	case m.Field == Integer && (v != math.Trunc(v) || math.Abs(v) > MaxInteger):
		return fmt.Errorf("%v, accepted: integers from %d to %d", v, -MaxInteger, MaxInteger)
	case m.Field == Pattern && v != 1:
		return fmt.Errorf("%v, accepted in a pattern: 1", v)
	}
	return nil
}

// header returns the words of the header line.
func (m *Matrix) header() string {
	return strings.Join([]string{string(m.Format), string(m.Field), string(m.Symmetry)}, " ")
}

// String returns the size of the matrix and the words of its header.
func (m *Matrix) String() string {
	return fmt.Sprintf("%d x %d, %d listed (%s)", m.Rows, m.Cols, m.Listed(), m.header())
}
