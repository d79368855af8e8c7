package catalogue

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/internal/config"
)

// Element is the element type of a vector or matrix. Blocks are little-endian.
type Element uint8

// The element types.
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
	Float64: {"float64", 8}, Float32: {"float32", 4}, Int64: {"int64", 8}, Int32: {"int32", 4},
	Uint8: {"uint8", 1}, Complex128: {"complex128", 16},
}

// elementNames lists the element types for messages.
const elementNames = "float64, float32, int64, int32, uint8, complex128"

// ElementNamed returns the element type with the name; false if there is none.
func ElementNamed(name string) (Element, bool) {
	for e := range elements {
		if e > 0 && elements[e].name == name {
			return Element(e), true
		}
	}
	return 0, false
}

func (e Element) known() bool { return e > 0 && int(e) < len(elements) }

// String returns the element type's name in the catalogue file.
func (e Element) String() string {
	if !e.known() {
		return "unspecified"
	}
	return elements[e].name
}

// Size returns the size of one element in bytes; 0 for an unknown type.
func (e Element) Size() int64 {
	if !e.known() {
		return 0
	}
	return elements[e].size
}

// Layout describes the block of a vector or matrix: element type and dimensions. Elements
// are contiguous, matrices in row-major order.
type Layout struct {
	Element Element `json:"element"`
	Dims    []int64 `json:"dims"` // length of a vector; rows and columns of a matrix
}

// maxElements is the largest number of elements in a block, and the largest dimension: up
// to it float64 expressions are exact.
const maxElements = 1 << 53

// Bytes returns the size of the block in bytes; false if a dimension is negative or the
// block has more than 2^53 elements.
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

// String formats the layout for messages: "3 x 4 of float64".
func (l Layout) String() string { return joinDims(l.Dims) + " of " + l.Element.String() }

func joinDims(dims []int64) string {
	texts := make([]string, len(dims))
	for i, d := range dims {
		texts[i] = strconv.FormatInt(d, 10)
	}
	return strings.Join(texts, " x ")
}

// dimension is an expression of an argument's dims. It can refer to any argument of the
// service, so it is compiled after all of them were read.
type dimension struct {
	argument string
	at       config.Value
	source   string
}

var arrayTypes = []Type{TypeVector, TypeVectorOut, TypeVectorInOut, TypeMatrix, TypeMatrixOut, TypeMatrixInOut}

func (d *decoder) element(v config.Value) Element {
	name, ok := d.scalar(v, elementNames)
	if !ok {
		return 0
	}
	e, known := ElementNamed(name)
	if !known {
		d.fail(v, "got %q, accepted: %s", name, elementNames)
	}
	return e
}

// dimensions decodes the dims of a vector or matrix.
func (d *decoder) dimensions(v config.Value, a *Argument) []string {
	var sources []string
	for _, item := range d.list(v) {
		text, ok := d.scalar(item, "an expression")
		if ok {
			d.dims = append(d.dims, dimension{argument: a.Name, at: item, source: text})
		}
		sources = append(sources, text)
	}
	if _, list := v.Items(); list && len(sources) != a.Type.Rank() {
		accepted := "the length"
		if a.Type.Rank() == 2 {
			accepted = "rows and columns"
		}
		d.fail(v, "got %d, accepted: %s", len(sources), accepted)
	}
	return sources
}

// compileDims compiles the dims of an argument in args.
func (d *decoder) compileDims(a *Argument, args []Argument) {
	for _, dim := range d.dims {
		if dim.argument == a.Name && len(a.dims) < len(a.Dims) {
			a.dims = append(a.dims, d.formula(dim.at, dim.source, args))
		}
	}
}

// fit computes the layouts of all arrays and returns an *ArgumentError for each array that
// does not match the catalogue.
func (v *Values) fit() []error {
	v.layouts = make([]Layout, len(v.list))
	// Dims refer to other arguments, so all sizes are checked before any dims.
	for _, check := range []func(a *Argument, given *Value, l *Layout) *ArgumentError{v.hasSize, v.hasDims} {
		var errs []error
		for i := range v.service.Arguments {
			a := &v.service.Arguments[i]
			if a.Type.Rank() == 0 {
				continue
			}
			if err := check(a, &v.list[i], &v.layouts[i]); err != nil {
				err.Service, err.Argument, err.Reason = v.service.Name, a.Name, ReasonWrongDimensions
				errs = append(errs, err)
			}
		}
		if len(errs) > 0 {
			return errs
		}
	}
	return nil
}

// hasSize checks the size of an input array. An array without size and content gets the
// size of its layout.
func (v *Values) hasSize(_ *Argument, given *Value, l *Layout) *ArgumentError {
	if given.kind == 0 { // output only
		return nil
	}
	*l = given.Layout()
	bytes, ok := l.Bytes()
	switch {
	case !ok:
		return &ArgumentError{Value: given.quote(), Accepted: tooManyElements}
	case given.file.Size == 0 && given.file.SHA256 == "":
		given.file.Size = bytes
	case given.file.Size != bytes:
		return &ArgumentError{Value: given.quote(), Accepted: fmt.Sprintf("%d bytes for %v", bytes, *l)}
	}
	return nil
}

// hasDims checks the dimensions of an input array against its dims, and sets those of an
// output array from them.
func (v *Values) hasDims(a *Argument, given *Value, l *Layout) *ArgumentError {
	if a.dims == nil {
		return nil
	}
	wanted, err := v.evalDims(a)
	if err != nil {
		return err
	}
	by := "by its dims " + strings.Join(a.Dims, " x ")
	if given.kind != 0 {
		if slices.Equal(wanted, l.Dims) {
			return nil
		}
		return &ArgumentError{
			Value: fmt.Sprintf("%v, %v", given.kind, *l), Accepted: fmt.Sprintf("%s, %s", joinDims(wanted), by),
		}
	}
	*l = Layout{Element: a.Element, Dims: wanted}
	if _, ok := l.Bytes(); !ok {
		return &ArgumentError{Value: fmt.Sprintf("%v, %s", *l, by), Accepted: tooManyElements}
	}
	return nil
}

const tooManyElements = "dimensions of at least 0, and at most 2^53 elements"

// evalDims evaluates the dims of an argument for these values.
func (v *Values) evalDims(a *Argument) ([]int64, *ArgumentError) {
	dims := make([]int64, len(a.dims))
	for i, e := range a.dims {
		x, err := e.eval(*v)
		if err != nil {
			return dims, &ArgumentError{Value: fmt.Sprintf("dims of %v", err), Accepted: wholeNumber}
		}
		if !(x >= 0 && x <= maxElements) || x > math.Floor(x) {
			return dims, &ArgumentError{Value: fmt.Sprintf("a dimension %s of %v", a.Dims[i], x), Accepted: wholeNumber}
		}
		dims[i] = int64(x)
	}
	return dims, nil
}

const wholeNumber = "a whole number, 0 to 2^53"

// member is a property of an argument's content that a placeholder can name.
type member uint8

const (
	noMember member = iota
	sizeMember
	lengthMember
	rowsMember
	colsMember
)

// members returns the members of an argument of this type, by name. An output-only file
// has none; an output-only array has those of an input array.
func (t Type) members() map[string]member {
	switch {
	case t.Rank() == 1:
		return map[string]member{"size": sizeMember, "length": lengthMember}
	case t.Rank() == 2:
		return map[string]member{"size": sizeMember, "rows": rowsMember, "cols": colsMember}
	case t.In():
		return map[string]member{"size": sizeMember}
	}
	return nil
}

// member returns one of the members of an argument.
func (v Values) member(i int, m member) int64 {
	if m == sizeMember && v.service.Arguments[i].Type.Rank() == 0 {
		return v.list[i].file.Size
	}
	l := v.layouts[i]
	switch m {
	case sizeMember:
		bytes, _ := l.Bytes() // fit checked it
		return bytes
	case colsMember:
		return l.Dims[1]
	}
	return l.Dims[0]
}
