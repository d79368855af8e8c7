package client

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Block is a vector or a matrix as it travels: its elements little endian, the rows
// of a matrix one after the other.
type Block struct {
	Element ElementType
	// Dimensions are of a vector its length, of a matrix its rows and columns.
	Dimensions []int64
	// Open opens the content, each time from its beginning. It must not change until
	// the job is submitted. An io.Seeker saves reading anew what a site has already.
	Open func() (io.ReadCloser, error)
}

// Array gives a vector or matrix argument whose elements are somewhere else than in
// memory, as OpenNPY finds them.
func Array(name string, b Block) Arg {
	if err := b.check(); err != nil {
		return value(name, misfit{ofArgument(err, name)})
	}
	return value(name, b.file())
}

// Vector gives a vector argument. The elements are read while Submit lasts, again if
// a connection breaks, and are not copied: until then they must not change.
func Vector[T Element](name string, v []T) Arg { return value(name, vectorBlock(v).file()) }

// Matrix gives a matrix argument, as Vector does.
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
				Reason: problem.WrongDimensions, Accepted: "0 or more each, and less than 2^63 bytes", Message: fmt.Sprintf("dimensions %s", times(b.Dimensions)),
			}
		}
		n *= d
	}
	return n, nil
}

// check refuses what is neither a vector nor a matrix.
func (b *Block) check() error {
	if n := len(b.Dimensions); n != 1 && n != 2 {
		return &problem.Problem{Reason: problem.WrongDimensions, Accepted: "1 of a vector, 2 of a matrix", Message: fmt.Sprintf("%d dimensions", n)}
	}
	_, err := b.Bytes()
	return err
}

// file returns what is sent of the block.
func (b Block) file() *file { return &file{open: b.Open, block: &b} }

// String says what kind of array it is: "2 x 3 of float64".
func (b *Block) String() string { return arrayText(b.Element, b.Dimensions) }

func arrayText(element ElementType, dimensions []int64) string {
	return rpc.ArrayText(string(element), dimensions)
}

// times writes dimensions for people.
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

// misfit is a value that is nothing for its argument: the request is not sent.
type misfit struct{ err error }

// ofArgument names the argument that an error is about.
func ofArgument(err error, argument string) error {
	e, ok := err.(*problem.Problem) //nolint:errorlint // of this package, and not wrapped
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

// fits refuses a block that is not of an argument's type. Dimensions that depend on
// other arguments are for the site to check.
func (b *Block) fits(a *Argument) error {
	if len(b.Dimensions) != a.Type.dimensions() || a.Element != "" && b.Element != a.Element {
		return ofArgument(&problem.Problem{Reason: problem.WrongType, Accepted: accepted(a), Message: "it is " + b.String()}, a.Name)
	}
	return nil
}
