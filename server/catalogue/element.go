package catalogue

import (
	"strconv"
	"strings"
)

// Element is what the elements of a vector or matrix are. In a block they are little
// endian.
type Element uint8

// The elements there are.
const (
	Float64    Element = iota + 1 // IEEE 754 binary64
	Float32                       // IEEE 754 binary32
	Int64                         // two's complement
	Int32                         // two's complement
	Uint8                         // unsigned
	Complex128                    // two Float64: real part, imaginary part
)

var elements = [...]struct {
	name string
	size int64
}{
	Float64: {"float64", 8}, Float32: {"float32", 4}, Int64: {"int64", 8}, Int32: {"int32", 4}, Uint8: {"uint8", 1}, Complex128: {"complex128", 16},
}

// elementNames lists them for people.
const elementNames = "float64, float32, int64, int32, uint8, complex128"

// ElementNamed returns the element of a name; false if there is none.
func ElementNamed(name string) (Element, bool) {
	for e := range elements {
		if e > 0 && elements[e].name == name {
			return Element(e), true
		}
	}
	return 0, false
}

func (e Element) known() bool { return e > 0 && int(e) < len(elements) }

// String returns the element's name as the catalogue file writes it.
func (e Element) String() string {
	if !e.known() {
		return "unspecified"
	}
	return elements[e].name
}

// Size returns the bytes of one element; 0 of none that is known.
func (e Element) Size() int64 {
	if !e.known() {
		return 0
	}
	return elements[e].size
}

// Layout is how the block of a vector or matrix is to be read: one element after the
// other, the rows of a matrix one after the other.
type Layout struct {
	Element Element `json:"element"`
	Dims    []int64 `json:"dims"` // of a vector its length; of a matrix its rows and columns
}

// maxElements is the most elements of a block, and the largest dimension: up to it
// expressions count exactly.
const maxElements = 1 << 53

// Bytes returns the size of the block; false if a dimension is negative or there are
// more than 2^53 elements.
func (l Layout) Bytes() (int64, bool) {
	n := int64(1)
	for _, d := range l.Dims {
		if d < 0 || d > maxElements || d > 0 && n > maxElements/d {
			return 0, false
		}
		n *= d
	}
	return n * l.Element.Size(), true
}

// String says it to people: "3 x 4 of float64".
func (l Layout) String() string { return joinDims(l.Dims) + " of " + l.Element.String() }

func joinDims(dims []int64) string {
	texts := make([]string, len(dims))
	for i, d := range dims {
		texts[i] = strconv.FormatInt(d, 10)
	}
	return strings.Join(texts, " x ")
}
