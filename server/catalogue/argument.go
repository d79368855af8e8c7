package catalogue

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-9b8f70bb/drover/internal/config"
)

// Limits of argument values.
const (
	// MaxText is the longest string argument in bytes, unless its max_length is
	// smaller. It keeps an argument vector far below any system's limit.
	MaxText = 4096
	// MaxFileName is the longest name of a file argument, in bytes.
	MaxFileName = 255
)

// Argument describes one argument of a service. It does not change after Load.
type Argument struct {
	Name      string
	Doc       string // one line
	Type      Type
	Required  bool     // every request must give it
	Default   Value    // if the request gives none; zero for required arguments and files
	Min, Max  Value    // of ints and floats; zero for no bound
	Choices   []string // of strings; nil for any
	MaxLength int      // of strings, in bytes
	Element   Element  // of vectors and matrices
	Dims      []string // of vectors and matrices: an expression for each dimension; nil for any

	dims []*expression // compiled Dims
}

// Reasons of an ArgumentError: stable words that callers can branch on.
const (
	ReasonUnknownArgument = "unknown-argument"
	ReasonMissingArgument = "missing-argument"
	ReasonWrongType       = "wrong-type"
	ReasonOutOfRange      = "out-of-range"
	ReasonWrongDimensions = "wrong-dimensions"
)

// ArgumentError reports that one argument of a request was refused.
type ArgumentError struct {
	Service  string
	Argument string
	Reason   string // one of the Reason constants
	Value    string // the given value for display; empty if none was given
	Accepted string // the accepted values
}

// Error names the argument, the value and the accepted range.
func (e *ArgumentError) Error() string {
	head := fmt.Sprintf("service %s: argument %s: ", e.Service, e.Argument)
	switch e.Reason {
	case ReasonUnknownArgument:
		return fmt.Sprintf("service %s has no argument %q, accepted: %s", e.Service, e.Argument, e.Accepted)
	case ReasonMissingArgument:
		return head + "not given, accepted: " + e.Accepted
	default:
		return head + "got " + e.Value + ", accepted: " + e.Accepted
	}
}

// Accepted describes the values that the argument takes.
func (a *Argument) Accepted() string {
	switch a.Type {
	case TypeInt, TypeFloat:
		what := "an integer"
		if a.Type == TypeFloat {
			what = "a finite number"
		}
		lo, hi := a.Min.Type() != 0, a.Max.Type() != 0
		switch {
		case lo && hi:
			return fmt.Sprintf("%s, %v to %v", what, a.Min, a.Max)
		case lo:
			return fmt.Sprintf("%s, at least %v", what, a.Min)
		case hi:
			return fmt.Sprintf("%s, at most %v", what, a.Max)
		}
		return what
	case TypeString:
		if a.Choices != nil {
			return "one of " + strings.Join(a.Choices, ", ")
		}
		return fmt.Sprintf("text of at most %d bytes, valid UTF-8 without NUL", a.MaxLength)
	case TypeBool:
		return "true or false"
	case TypeFileIn, TypeFileInOut:
		return fmt.Sprintf("a file with a size of at least 0 and a base name of at most %d bytes without control "+
			"characters",
			MaxFileName)
	case TypeVector, TypeVectorInOut, TypeMatrix, TypeMatrixInOut:
		what := fmt.Sprintf("a %v of %v", a.Type.given(), a.Element)
		if a.Dims != nil {
			what += ", " + strings.Join(a.Dims, " x ")
		}
		return what
	default:
		return "no value: the site chooses where it is written"
	}
}

// bind converts v to the argument's type. It returns the reason of a refusal, or "" if
// it accepts the value.
func (a *Argument) bind(v Value) (Value, string) {
	if v.kind == TypeText {
		parsed, err := a.parse(v.text)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return Value{}, ReasonOutOfRange
		case err != nil:
			return Value{}, ReasonWrongType
		}
		v = parsed
	}
	if a.Type == TypeFloat && v.kind == TypeInt {
		v = Float(float64(v.num))
	}
	if v.kind == 0 || v.kind != a.Type.given() || v.element != a.Element { // a file-out takes no value
		return Value{}, ReasonWrongType
	}
	if !a.accepts(v) {
		return Value{}, ReasonOutOfRange
	}
	return v, ""
}

// parse converts typed text to the argument's type.
func (a *Argument) parse(s string) (Value, error) {
	switch a.Type {
	case TypeInt:
		i, err := strconv.ParseInt(s, 10, 64)
		return Int(i), err
	case TypeFloat:
		f, err := strconv.ParseFloat(s, 64)
		return Float(f), err
	case TypeString:
		return String(s), nil
	case TypeBool:
		switch s {
		case "true":
			return Bool(true), nil
		case "false":
			return Bool(false), nil
		}
	}
	return Value{}, strconv.ErrSyntax
}

// accepts reports whether a value of the argument's type is in its range.
func (a *Argument) accepts(v Value) bool {
	switch a.Type {
	case TypeInt:
		return (a.Min.Type() == 0 || v.num >= a.Min.num) && (a.Max.Type() == 0 || v.num <= a.Max.num)
	case TypeFloat:
		return !math.IsNaN(v.real) && !math.IsInf(v.real, 0) &&
			(a.Min.Type() == 0 || v.real >= a.Min.real) && (a.Max.Type() == 0 || v.real <= a.Max.real)
	case TypeString:
		if a.Choices != nil {
			return slices.Contains(a.Choices, v.text)
		}
		return len(v.text) <= a.MaxLength && utf8.ValidString(v.text) && strings.IndexByte(v.text, 0) < 0
	}
	if a.Type.In() {
		return v.file.Size >= 0 && baseName(v.file.Name)
	}
	return true
}

// IsBaseName reports whether a client's file name is usable; "" is.
func IsBaseName(s string) bool { return baseName(s) }

// baseName reports whether a client's file name is safe as the last element of a path
// and safe to print: no separator, no control character, and neither "." nor "..".
func baseName(s string) bool {
	return len(s) <= MaxFileName && s != "." && s != ".." && utf8.ValidString(s) &&
		!strings.ContainsAny(s, "/\\") && !strings.ContainsFunc(s, unicode.IsControl)
}

// maxArguments bounds the arguments of one service.
const maxArguments = 100

var argumentTypes = map[string]Type{
	"int": TypeInt, "float": TypeFloat, "string": TypeString, "bool": TypeBool,
	"file": TypeFileIn, "file-out": TypeFileOut, "file-inout": TypeFileInOut,
	"vector": TypeVector, "vector-out": TypeVectorOut, "vector-inout": TypeVectorInOut,
	"matrix": TypeMatrix, "matrix-out": TypeMatrixOut, "matrix-inout": TypeMatrixInOut,
}

// typesAccepted lists the argument types for messages.
const typesAccepted = "int, float, string, bool, file, vector, matrix, and the last three with -out or -inout"

func (d *decoder) arguments(v config.Value) []Argument {
	var args []Argument
	seen := make(map[string]bool)
	d.dims = nil
	for _, item := range d.list(v) {
		a := d.argument(item)
		switch {
		case seen[a.Name]:
			d.fail(item.At("name"), "%q is given twice, accepted: a unique name", a.Name)
		case words[a.Name]:
			d.fail(item.At("name"), "%q is reserved for expressions or placeholders, accepted: another name", a.Name)
		}
		seen[a.Name] = true
		args = append(args, a)
	}
	if len(args) > maxArguments {
		d.fail(v, "got %d, accepted: at most %d", len(args), maxArguments)
	}
	for i := range args {
		d.compileDims(&args[i], args)
	}
	return args
}

func (d *decoder) argument(v config.Value) Argument {
	var in struct {
		Name      config.Value `yaml:"name,required"`
		Type      config.Value `yaml:"type,required"`
		Doc       config.Value `yaml:"doc"`
		Min       config.Value `yaml:"min"`
		Max       config.Value `yaml:"max"`
		MaxLength config.Value `yaml:"max_length"`
		Choices   config.Value `yaml:"choices"`
		Default   config.Value `yaml:"default"`
		Element   config.Value `yaml:"element"`
		Dims      config.Value `yaml:"dims"`
	}
	a, mark := Argument{Required: true, MaxLength: MaxText}, len(d.problems)
	if !d.fit(v, &in) {
		return a
	}
	a.Name = d.matching(in.Name, argumentName, "a lower-case letter, then up to 62 of a-z, 0-9 and _")
	if text, ok := d.scalar(in.Type, typesAccepted); ok {
		if a.Type = argumentTypes[text]; a.Type == 0 {
			d.fail(in.Type, "got %q, accepted: %s", text, typesAccepted)
		}
	}
	// only returns whether a key is given and meant for the type.
	only := func(v config.Value, types ...Type) bool {
		fits := slices.Contains(types, a.Type)
		if v.Given() && !fits && a.Type != 0 {
			d.fail(v, "not for type %v", a.Type)
		}
		return v.Given() && fits
	}
	a.Doc = d.line(in.Doc)
	if only(in.Min, TypeInt, TypeFloat) {
		a.Min = d.value(in.Min, &Argument{Type: a.Type})
	}
	if only(in.Max, TypeInt, TypeFloat) {
		a.Max = d.value(in.Max, &Argument{Type: a.Type})
		if a.Min.kind != 0 && a.Max.kind != 0 && a.Max.Float() < a.Min.Float() {
			d.fail(in.Max, "got %v, accepted: at least min, %v", a.Max, a.Min)
		}
	}
	if only(in.MaxLength, TypeString) {
		a.MaxLength = int(d.integer(in.MaxLength, 1, MaxText, MaxText))
	}
	if only(in.Choices, TypeString) {
		for _, v := range d.list(in.Choices) {
			a.Choices = append(a.Choices, d.value(v, &Argument{Type: TypeString, MaxLength: a.MaxLength}).Text())
		}
		if len(a.Choices) == 0 {
			d.fail(in.Choices, "empty, accepted: at least one choice")
		}
	}
	if only(in.Default, TypeInt, TypeFloat, TypeString, TypeBool) {
		a.Default, a.Required = d.value(in.Default, &a), false
	}
	if only(in.Element, arrayTypes...) {
		a.Element = d.element(in.Element)
	}
	if only(in.Dims, arrayTypes...) {
		a.Dims = d.dimensions(in.Dims, &a)
	}
	switch {
	case a.Type.Rank() > 0 && a.Type.given() == 0 && a.Dims == nil && len(d.problems) == mark:
		d.fail(v.At("dims"), "missing, accepted: the dimensions of the %v", a.Type)
	case a.Type.Rank() > 0 && a.Element == 0:
		a.Element = Float64
	}
	if a.Type.Out() && !a.Type.In() {
		a.Required = false
	}
	return a
}

// value decodes a value that argument a accepts.
func (d *decoder) value(v config.Value, a *Argument) Value {
	text, ok := d.scalar(v, a.Accepted())
	if !ok {
		return Value{}
	}
	value, reason := a.bind(Text(text))
	if reason != "" {
		d.fail(v, "got %q, accepted: %s", text, a.Accepted())
	}
	return value
}
