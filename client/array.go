package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Block is a vector or a matrix in transfer: its elements in little-endian order, a
// matrix row by row.
type Block struct {
	Element ElementType
	// Dimensions are the length of a vector, or the rows and columns of a matrix.
	Dimensions []int64
	// Open opens the content at its beginning. The content must not change until the job
	// is submitted. If it is an io.Seeker, an upload that is resumed does not read it
	// from the beginning.
	Open func() (io.ReadCloser, error)
}

// Array sets a vector or matrix argument with elements outside memory, such as those
// of OpenNPY.
func Array(name string, b Block) Arg {
	if err := b.check(); err != nil {
		return value(name, misfit{ofArgument(err, name)})
	}
	return value(name, b.file())
}

// Vector sets a vector argument. Submit reads the elements in place, again after a
// broken connection: they must not change until it returns.
func Vector[T Element](name string, v []T) Arg { return value(name, vectorBlock(v).file()) }

// Matrix sets a matrix argument, as Vector does.
func Matrix[T Element](name string, m *Dense[T]) Arg {
	b, err := m.block()
	if err != nil {
		return value(name, misfit{ofArgument(err, name)})
	}
	return value(name, b.file())
}

// Bytes returns the size of the content.
func (b *Block) Bytes() (int64, error) {
	n := b.Element.Size()
	if n == 0 {
		return 0, &problem.Problem{
			Reason: problem.WrongType, Accepted: "float64, float32, int64, int32, uint8 or complex128",
			Message: fmt.Sprintf("elements of type %q", b.Element),
		}
	}
	for _, d := range b.Dimensions {
		if d < 0 || d > 0 && n > math.MaxInt64/d {
			return 0, &problem.Problem{
				Reason: problem.WrongDimensions, Accepted: "0 or more each, and less than 2^63 bytes",
				Message: fmt.Sprintf("dimensions %s", times(b.Dimensions)),
			}
		}
		n *= d
	}
	return n, nil
}

// check refuses a block that is neither a vector nor a matrix.
func (b *Block) check() error {
	if n := len(b.Dimensions); n != 1 && n != 2 {
		return &problem.Problem{
			Reason: problem.WrongDimensions, Accepted: "1 for a vector, 2 for a matrix",
			Message: fmt.Sprintf("%d dimensions", n),
		}
	}
	_, err := b.Bytes()
	return err
}

// file returns the block as content to send.
func (b Block) file() *file { return &file{open: b.Open, block: &b} }

// String describes the array: "2 x 3 of float64".
func (b *Block) String() string { return arrayText(b.Element, b.Dimensions) }

func arrayText(element ElementType, dimensions []int64) string {
	return rpc.ArrayText(string(element), dimensions)
}

// times formats dimensions: "2 x 3".
func times(dimensions []int64) string {
	parts := make([]string, len(dimensions))
	for i, d := range dimensions {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, " x ")
}

func vectorBlock[T Element](v []T) Block {
	return Block{
		Element: elementType[T](), Dimensions: []int64{int64(len(v))},
		Open: func() (io.ReadCloser, error) { return &source[T]{data: v}, nil },
	}
}

// misfit is a value that does not fit its argument: the request is not sent.
type misfit struct{ err error }

// ofArgument adds the name of the argument to an error.
func ofArgument(err error, argument string) error {
	e, ok := err.(*problem.Problem) //nolint:errorlint // not wrapped
	if !ok {
		return fmt.Errorf("argument %s: %w", argument, err)
	}
	named := *e
	named.Field = "request.arguments." + argument
	named.Message = fmt.Sprintf("argument %s: %s", argument, e.Message)
	if e.Accepted != "" {
		named.Message += ", accepted: " + e.Accepted
	}
	return &named
}

// fits refuses a block of another type than the argument. The site checks
// dimensions that depend on other arguments.
func (b *Block) fits(a *Argument) error {
	if len(b.Dimensions) != a.Type.dimensions() || a.Element != "" && b.Element != a.Element {
		return ofArgument(&problem.Problem{
			Reason: problem.WrongType, Accepted: accepted(a), Message: "it is " + b.String(),
		}, a.Name)
	}
	return nil
}

// Dense is a matrix in memory, row by row.
type Dense[T Element] struct {
	Rows, Cols int
	Data       []T // Rows times Cols elements
}

// NewDense returns a matrix of zeros. It panics, as make does, if the number of elements
// is invalid.
func NewDense[T Element](rows, cols int) *Dense[T] {
	return &Dense[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// DenseOf returns a matrix with a copy of these rows, which have to be equally long.
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

// At returns an element. Rows and columns count from 0.
func (m *Dense[T]) At(row, col int) T { return m.Data[row*m.Cols+col] }

// Set sets an element.
func (m *Dense[T]) Set(row, col int, v T) { m.Data[row*m.Cols+col] = v }

// Row returns a row. It shares memory with the matrix.
func (m *Dense[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// block returns the matrix in transfer format.
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

// slot returns a slot that replaces this matrix.
func (m *Dense[T]) slot() slot {
	if m == nil {
		return nil
	}
	return &arraySlot[T]{matrix: m}
}

// dense is a *Dense of any element type.
type dense interface {
	block() (Block, error)
	slot() slot
}

// ElementType is the type of the elements of a vector or matrix.
type ElementType string

// The types of elements.
const (
	Float64    ElementType = "float64"
	Float32    ElementType = "float32"
	Int64      ElementType = "int64"
	Int32      ElementType = "int32"
	Uint8      ElementType = "uint8"
	Complex128 ElementType = "complex128"
)

// Element is the constraint for Go types of elements.
type Element interface {
	float64 | float32 | int64 | int32 | uint8 | complex128
}

// Size returns the size of an element in bytes, 0 for an unknown type.
func (e ElementType) Size() int64 {
	switch e {
	case Complex128:
		return 16
	case Float64, Int64:
		return 8
	case Float32, Int32:
		return 4
	case Uint8:
		return 1
	}
	return 0
}

// elementType returns the type of T.
func elementType[T Element]() ElementType {
	switch any(*new(T)).(type) {
	case float64:
		return Float64
	case float32:
		return Float32
	case int64:
		return Int64
	case int32:
		return Int32
	case complex128:
		return Complex128
	}
	return Uint8
}

var order = binary.LittleEndian

// encode writes elements in transfer format. The destination has to be large enough.
func encode[T Element](to []byte, from []T) {
	switch from := any(from).(type) {
	case []float64:
		for i, v := range from {
			order.PutUint64(to[8*i:], math.Float64bits(v))
		}
	case []float32:
		for i, v := range from {
			order.PutUint32(to[4*i:], math.Float32bits(v))
		}
	case []int64:
		for i, v := range from {
			order.PutUint64(to[8*i:], uint64(v))
		}
	case []int32:
		for i, v := range from {
			order.PutUint32(to[4*i:], uint32(v))
		}
	case []complex128:
		for i, v := range from {
			order.PutUint64(to[16*i:], math.Float64bits(real(v)))
			order.PutUint64(to[16*i+8:], math.Float64bits(imag(v)))
		}
	case []uint8:
		copy(to, from)
	}
}

// decode is the inverse of encode.
func decode[T Element](to []T, from []byte) {
	switch to := any(to).(type) {
	case []float64:
		for i := range to {
			to[i] = math.Float64frombits(order.Uint64(from[8*i:]))
		}
	case []float32:
		for i := range to {
			to[i] = math.Float32frombits(order.Uint32(from[4*i:]))
		}
	case []int64:
		for i := range to {
			to[i] = int64(order.Uint64(from[8*i:]))
		}
	case []int32:
		for i := range to {
			to[i] = int32(order.Uint32(from[4*i:]))
		}
	case []complex128:
		for i := range to {
			to[i] = complex(math.Float64frombits(order.Uint64(from[16*i:])),
				math.Float64frombits(order.Uint64(from[16*i+8:])))
		}
	case []uint8:
		copy(to, from)
	}
}

// largestElement is the size of the largest element, bytes.
const largestElement = 16

// source reads elements in transfer format without copying them. It is an io.ReadSeeker.
type source[T Element] struct {
	data []T
	at   int64 // bytes
}

func (s *source[T]) Read(p []byte) (int, error) {
	size := elementType[T]().Size()
	total := size * int64(len(s.data))
	if s.at >= total {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && s.at < total {
		i, within := s.at/size, s.at%size
		step := 0
		if whole := min(int64(len(p)-n)/size, int64(len(s.data))-i); within == 0 && whole > 0 {
			encode(p[n:], s.data[i:i+whole])
			step = int(whole * size)
		} else {
			var one [largestElement]byte
			encode(one[:], s.data[i:i+1])
			step = copy(p[n:], one[within:size])
		}
		n += step
		s.at += int64(step)
	}
	return n, nil
}

func (s *source[T]) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += elementType[T]().Size() * int64(len(s.data))
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d: %w", offset, fs.ErrInvalid)
	}
	s.at = offset
	return offset, nil
}

func (s *source[T]) Close() error { return nil }

// errMore is content that is longer than announced.
var errMore = errors.New("the site sends more than it announced")

// gathered collects elements in transfer format.
type gathered[T Element] struct {
	data []T
	n    int // complete elements
	rest [largestElement]byte
	have int // bytes of the next element
}

func (g *gathered[T]) Write(p []byte) (int, error) {
	size := int(elementType[T]().Size())
	for took := 0; took < len(p); {
		if g.n == len(g.data) {
			return took, errMore
		}
		if whole := min((len(p)-took)/size, len(g.data)-g.n); g.have == 0 && whole > 0 {
			decode(g.data[g.n:g.n+whole], p[took:])
			g.n += whole
			took += whole * size
			continue
		}
		k := copy(g.rest[g.have:size], p[took:])
		took += k
		if g.have += k; g.have == size {
			decode(g.data[g.n:g.n+1], g.rest[:])
			g.n++
			g.have = 0
		}
	}
	return len(p), nil
}
