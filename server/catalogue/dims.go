package catalogue

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// dimension is an expression of an argument's dims, which is compiled when all the
// arguments are known: it may be about those that follow, and about its own.
type dimension struct {
	argument string
	node     *yaml.Node
	path     string
	source   string
}

var arrayTypes = []Type{TypeVector, TypeVectorOut, TypeVectorInOut, TypeMatrix, TypeMatrixOut, TypeMatrixInOut}

func (d *decoder) element(n *yaml.Node, path string) Element {
	name, ok := d.scalar(n, path, elementNames)
	if !ok {
		return 0
	}
	e, known := ElementNamed(name)
	if !known {
		d.fail(n, path, "got %q, accepted: %s", name, elementNames)
	}
	return e
}

// dimensions reads the dims of a vector or matrix.
func (d *decoder) dimensions(n *yaml.Node, path string, a *Argument) []string {
	var sources []string
	d.list(n, path, func(n *yaml.Node, path string) {
		text, ok := d.scalar(n, path, "an expression")
		if ok {
			d.dims = append(d.dims, dimension{argument: a.Name, node: n, path: path, source: text})
		}
		sources = append(sources, text)
	})
	if n.Kind == yaml.SequenceNode && len(sources) != a.Type.Rank() {
		accepted := "the length"
		if a.Type.Rank() == 2 {
			accepted = "rows and columns"
		}
		d.fail(n, path, "got %d, accepted: %s", len(sources), accepted)
	}
	return sources
}

// compileDims compiles the dims of an argument, one of args.
func (d *decoder) compileDims(a *Argument, args []Argument) {
	for _, dim := range d.dims {
		if dim.argument == a.Name && len(a.dims) < len(a.Dims) {
			a.dims = append(a.dims, d.formula(dim.node, dim.path, dim.source, args))
		}
	}
}

// fit works out the layouts of all arrays, and returns an *ArgumentError for each one
// that is not as the catalogue wants it.
func (v *Values) fit() []error {
	v.layouts = make([]Layout, len(v.list))
	// What is said of one argument may be about another one.
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

// hasSize checks the size of an array that goes in. One that is not here yet and whose
// size is not said has the size that its layout says.
func (v *Values) hasSize(_ *Argument, given *Value, l *Layout) *ArgumentError {
	if given.kind == 0 { // it only comes out
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

// hasDims checks the dimensions of an array against its dims, or takes them from there
// if it only comes out.
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
		return &ArgumentError{Value: fmt.Sprintf("%v, %v", given.kind, *l), Accepted: fmt.Sprintf("%s, %s", joinDims(wanted), by)}
	}
	*l = Layout{Element: a.Element, Dims: wanted}
	if _, ok := l.Bytes(); !ok {
		return &ArgumentError{Value: fmt.Sprintf("%v, %s", *l, by), Accepted: tooManyElements}
	}
	return nil
}

const tooManyElements = "dimensions of at least 0, and at most 2^53 elements"

// evalDims returns what the dims of an argument are for these values.
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

// member is what can be said of an argument's content in placeholders.
type member uint8

const (
	noMember member = iota
	sizeMember
	lengthMember
	rowsMember
	colsMember
)

// members returns what there is to be said of an argument, by its type. Of a file that
// only comes out it is nothing, of an array the same as of one that goes in.
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
		bytes, _ := l.Bytes() // it was checked
		return bytes
	case colsMember:
		return l.Dims[1]
	}
	return l.Dims[0]
}
