package catalogue

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// maxArguments bounds what one service may ask for.
const maxArguments = 100

var argumentTypes = map[string]Type{
	"int": TypeInt, "float": TypeFloat, "string": TypeString, "bool": TypeBool,
	"file": TypeFileIn, "file-out": TypeFileOut, "file-inout": TypeFileInOut,
	"vector": TypeVector, "vector-out": TypeVectorOut, "vector-inout": TypeVectorInOut,
	"matrix": TypeMatrix, "matrix-out": TypeMatrixOut, "matrix-inout": TypeMatrixInOut,
}

// typesAccepted lists them for people.
const typesAccepted = "int, float, string, bool, file, vector, matrix, and the last three with -out or -inout"

func (d *decoder) arguments(n *yaml.Node, path string) []Argument {
	var args []Argument
	seen := make(map[string]bool)
	d.dims = nil
	d.list(n, path, func(n *yaml.Node, path string) {
		a := d.argument(n, path)
		switch {
		case seen[a.Name]:
			d.fail(n, join(path, "name"), "%q is given twice, accepted: a name of its own", a.Name)
		case words[a.Name]:
			d.fail(n, join(path, "name"), "%q is a word of expressions or placeholders, accepted: another name", a.Name)
		}
		seen[a.Name] = true
		args = append(args, a)
	})
	if len(args) > maxArguments {
		d.fail(n, path, "got %d, accepted: at most %d", len(args), maxArguments)
	}
	for i := range args {
		d.compileDims(&args[i], args)
	}
	return args
}

func (d *decoder) argument(n *yaml.Node, path string) Argument {
	a, mark := Argument{Required: true, MaxLength: MaxText}, len(d.problems)
	only := func(n *yaml.Node, path string, types ...Type) bool {
		for _, t := range types {
			if a.Type == t {
				return true
			}
		}
		if a.Type != 0 {
			d.fail(n, path, "not for type %v", a.Type)
		}
		return false
	}
	d.mapping(n, path,
		field{"name", true, func(n *yaml.Node, path string) {
			a.Name = d.matching(n, path, argumentName, "a lower-case letter, then up to 62 of a-z, 0-9 and _")
		}},
		field{"type", true, func(n *yaml.Node, path string) {
			if v, ok := d.scalar(n, path, typesAccepted); ok {
				if a.Type = argumentTypes[v]; a.Type == 0 {
					d.fail(n, path, "got %q, accepted: %s", v, typesAccepted)
				}
			}
		}},
		field{"doc", false, func(n *yaml.Node, path string) { a.Doc = d.line(n, path) }},
		field{"min", false, func(n *yaml.Node, path string) {
			if only(n, path, TypeInt, TypeFloat) {
				a.Min = d.value(n, path, &Argument{Type: a.Type})
			}
		}},
		field{"max", false, func(n *yaml.Node, path string) {
			if only(n, path, TypeInt, TypeFloat) {
				a.Max = d.value(n, path, &Argument{Type: a.Type})
				if a.Min.kind != 0 && a.Max.kind != 0 && a.Max.Float() < a.Min.Float() {
					d.fail(n, path, "got %v, accepted: at least min, %v", a.Max, a.Min)
				}
			}
		}},
		field{"max_length", false, func(n *yaml.Node, path string) {
			if only(n, path, TypeString) {
				a.MaxLength = int(d.integer(n, path, 1, MaxText))
			}
		}},
		field{"choices", false, func(n *yaml.Node, path string) {
			if only(n, path, TypeString) {
				d.list(n, path, func(n *yaml.Node, path string) {
					a.Choices = append(a.Choices, d.value(n, path, &Argument{Type: TypeString, MaxLength: a.MaxLength}).Text())
				})
				if len(n.Content) == 0 {
					d.fail(n, path, "empty, accepted: at least one choice")
				}
			}
		}},
		field{"default", false, func(n *yaml.Node, path string) {
			if only(n, path, TypeInt, TypeFloat, TypeString, TypeBool) {
				a.Default, a.Required = d.value(n, path, &a), false
			}
		}},
		field{"element", false, func(n *yaml.Node, path string) {
			if only(n, path, arrayTypes...) {
				a.Element = d.element(n, path)
			}
		}},
		field{"dims", false, func(n *yaml.Node, path string) {
			if only(n, path, arrayTypes...) {
				a.Dims = d.dimensions(n, path, &a)
			}
		}},
	)
	switch {
	case a.Type.Rank() > 0 && a.Type.given() == 0 && a.Dims == nil && !d.failed(mark):
		d.fail(n, join(path, "dims"), "missing: they say how much of a %v is to come out", a.Type)
	case a.Type.Rank() > 0 && a.Element == 0:
		a.Element = Float64
	}
	if a.Type.Out() && !a.Type.In() {
		a.Required = false
	}
	return a
}

// value reads a value that argument a would accept.
func (d *decoder) value(n *yaml.Node, path string, a *Argument) Value {
	text, ok := d.scalar(n, path, a.Accepted())
	if !ok {
		return Value{}
	}
	v, reason := a.bind(Text(text))
	if reason != "" {
		d.fail(n, path, "got %q, accepted: %s", text, a.Accepted())
	}
	return v
}

// integer reads a whole number.
func (d *decoder) integer(n *yaml.Node, path string, lo, hi int64) int64 {
	accepted := fmt.Sprintf("an integer, %d..%d", lo, hi)
	text, ok := d.scalar(n, path, accepted)
	if !ok {
		return lo
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || i < lo || i > hi {
		d.fail(n, path, "got %q, accepted: %s", text, accepted)
		return lo
	}
	return i
}

// number reads a number.
func (d *decoder) number(n *yaml.Node, path string, lo, hi float64) float64 {
	accepted := fmt.Sprintf("a number, %v..%v", lo, hi)
	text, ok := d.scalar(n, path, accepted)
	if !ok {
		return lo
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= lo && f <= hi) {
		d.fail(n, path, "got %q, accepted: %s", text, accepted)
		return lo
	}
	return f
}
