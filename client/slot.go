package client

import (
	"bytes"
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// slot is where an output goes in memory: what is there changes only when all of it
// has come.
type slot interface {
	// begin is told what comes. An output without element is a file.
	begin(o Output) error
	Write(p []byte) (int, error)
	// end puts it in place, if it is all.
	end() error
}

// slotOf returns where an output goes that is to be in v, nil for what it cannot be in.
func slotOf(v any) slot {
	switch v := v.(type) {
	case *[]byte: // a file, or a vector of uint8
		if v != nil {
			return &bytesSlot{to: v}
		}
	case *[]float64:
		return vectorSlot(v)
	case *[]float32:
		return vectorSlot(v)
	case *[]int64:
		return vectorSlot(v)
	case *[]int32:
		return vectorSlot(v)
	case *[]complex128:
		return vectorSlot(v)
	case dense:
		return v.slot()
	}
	return nil
}

func vectorSlot[T Element](v *[]T) slot {
	if v == nil {
		return nil
	}
	return &arraySlot[T]{vector: v}
}

// mismatch is the error of an output that cannot be in what it was to be in.
func mismatch(o Output, accepted string) error {
	is := "a file"
	if o.Element != "" {
		is = arrayText(o.Element, o.Dimensions)
	}
	return &problem.Problem{Reason: problem.WrongType, Field: o.Argument, Accepted: accepted, Message: fmt.Sprintf("output %s is %s", o.Argument, is)}
}

// bytesSlot takes a file, or a vector of bytes.
type bytesSlot struct {
	to      *[]byte
	content bytes.Buffer
}

func (s *bytesSlot) begin(o Output) error {
	if o.Element != "" && (o.Element != Uint8 || len(o.Dimensions) != 1) {
		return mismatch(o, "a file or a vector of uint8, for a *[]byte")
	}
	s.content.Grow(int(max(0, min(o.Size, 1<<26)))) // so much at once; what a site says need not be so
	return nil
}

func (s *bytesSlot) Write(p []byte) (int, error) { return s.content.Write(p) }

func (s *bytesSlot) end() error {
	*s.to = s.content.Bytes()
	return nil
}

// arraySlot takes a vector or a matrix.
type arraySlot[T Element] struct {
	gathered[T]

	vector     *[]T
	matrix     *Dense[T]
	rows, cols int
}

func (s *arraySlot[T]) begin(o Output) error {
	b := Block{Element: elementType[T](), Dimensions: o.Dimensions}
	kind, want := "vector", 1
	if s.matrix != nil {
		kind, want = "matrix", 2
	}
	size, err := b.Bytes()
	if o.Element != b.Element || len(o.Dimensions) != want {
		return mismatch(o, fmt.Sprintf("a %s of %s", kind, b.Element))
	}
	if err != nil || size != o.Size || size > math.MaxInt {
		return &problem.Problem{
			Reason: problem.Internal, Field: o.Argument,
			Message: fmt.Sprintf("output %s is %s, and has %d bytes", o.Argument, arrayText(o.Element, o.Dimensions), o.Size),
		}
	}
	s.rows, s.cols = int(o.Dimensions[0]), int(o.Dimensions[want-1])
	s.data = make([]T, size/b.Element.Size())
	return nil
}

func (s *arraySlot[T]) end() error {
	switch {
	case s.n < len(s.data):
		return &problem.Problem{Reason: problem.Internal, Hint: "fetch it again", Message: fmt.Sprintf("%d elements of %d have come", s.n, len(s.data))}
	case s.matrix != nil:
		*s.matrix = Dense[T]{Rows: s.rows, Cols: s.cols, Data: s.data}
	default:
		*s.vector = s.data
	}
	return nil
}
