package client

import (
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Dense is a matrix in memory: its rows, one after the other.
type Dense[T Element] struct {
	Rows, Cols int
	Data       []T // Rows times Cols elements
}

// NewDense returns a matrix of zeros. It panics, as make does, when there is no such
// number of elements.
func NewDense[T Element](rows, cols int) *Dense[T] {
	return &Dense[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// DenseOf returns a matrix with these rows, copied. They have to be of one length.
func DenseOf[T Element](rows [][]T) (*Dense[T], error) {
	m := &Dense[T]{Rows: len(rows)}
	for i, row := range rows {
		if i == 0 {
			m.Cols = len(row)
			m.Data = make([]T, 0, len(rows)*len(row))
		}
		if len(row) != m.Cols {
			return nil, &problem.Problem{
				Reason: problem.WrongDimensions, Accepted: "rows of one length",
				Message: fmt.Sprintf("row %d has %d elements, row 0 has %d", i, len(row), m.Cols),
			}
		}
		m.Data = append(m.Data, row...)
	}
	return m, nil
}

// At returns an element; rows and columns count from 0.
func (m *Dense[T]) At(row, col int) T { return m.Data[row*m.Cols+col] }

// Set sets an element.
func (m *Dense[T]) Set(row, col int, v T) { m.Data[row*m.Cols+col] = v }

// Row returns a row, which is part of the matrix.
func (m *Dense[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// block returns the matrix as it travels.
func (m *Dense[T]) block() (Block, error) {
	if m == nil {
		return Block{}, &problem.Problem{Reason: problem.WrongType, Accepted: "a matrix", Message: "it is nil"}
	}
	rows, cols := m.Rows, m.Cols
	if rows < 0 || cols < 0 || rows != 0 && len(m.Data)/rows != cols || rows*cols != len(m.Data) {
		return Block{}, &problem.Problem{
			Reason: problem.WrongDimensions, Accepted: "rows times columns elements",
			Message: fmt.Sprintf("%d elements in %d rows and %d columns", len(m.Data), rows, cols),
		}
	}
	data := m.Data
	return Block{
		Element: elementType[T](), Dimensions: []int64{int64(rows), int64(cols)},
		Open: func() (io.ReadCloser, error) { return &source[T]{data: data}, nil },
	}, nil
}

// slot returns where an output goes that is to be this matrix.
func (m *Dense[T]) slot() slot {
	if m == nil {
		return nil
	}
	return &arraySlot[T]{matrix: m}
}

// dense is a *Dense of some type.
type dense interface {
	block() (Block, error)
	slot() slot
}
