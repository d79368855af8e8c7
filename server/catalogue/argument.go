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
)

// Limits of what an argument's value may be.
const (
	// MaxText is the longest string argument unless its max_length says less,
	// bytes. It keeps an argument vector far below any system's limit.
	MaxText = 4096
	// MaxFileName is the longest name of a file argument, bytes.
	MaxFileName = 255
)

// Argument describes one argument of a service. It is not changed after Load.
type Argument struct {
	Name      string
	Doc       string // one line
	Type      Type
	Required  bool     // a request has to give it
	Default   Value    // when left out; zero when Required and of files
	Min, Max  Value    // of ints and floats; zero for no bound
	Choices   []string // of strings; nil for any
	MaxLength int      // of strings, bytes
	Element   Element  // of vectors and matrices
	Dims      []string // of vectors and matrices: expressions, one for each dimension; nil for any

	dims []*expression // of Dims
}

// Reasons of an ArgumentError: stable words that a caller may branch on.
const (
	ReasonUnknownArgument = "unknown-argument"
	ReasonMissingArgument = "missing-argument"
	ReasonWrongType       = "wrong-type"
	ReasonOutOfRange      = "out-of-range"
	ReasonWrongDimensions = "wrong-dimensions"
)

// ArgumentError says that one argument of a request was refused.
type ArgumentError struct {
	Service  string
	Argument string
	Reason   string // one of the Reason constants
	Value    string // what was given, for people; empty when nothing was
	Accepted string // what would have been accepted
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

// Accepted says in words which values the argument takes.
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
		return fmt.Sprintf("a file with a size of at least 0 and a base name of at most %d bytes without control characters", MaxFileName)
	case TypeVector, TypeVectorInOut, TypeMatrix, TypeMatrixInOut:
		what := fmt.Sprintf("a %v of %v", a.Type.given(), a.Element)
		if a.Dims != nil {
			what += ", " + strings.Join(a.Dims, " x ")
		}
		return what
	default:
		return "no value: the site says where it is written"
	}
}

// bind returns v as the argument's own type, or the reason of its refusal and
// an empty one when it is accepted.
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
	if v.kind == 0 || v.kind != a.Type.given() || v.element != a.Element { // a file-out has no values
		return Value{}, ReasonWrongType
	}
	if !a.accepts(v) {
		return Value{}, ReasonOutOfRange
	}
	return v, ""
}

// parse reads what a person typed.
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

// accepts says whether a value of the argument's type is in its range.
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

// IsBaseName says whether a client's name for a file may be used; "" may.
func IsBaseName(s string) bool { return baseName(s) }

// baseName says whether a client's name for a file is safe to use as the last
// element of a path, and to show: no separator, nothing that controls a terminal, and
// neither "." nor "..".
func baseName(s string) bool {
	return len(s) <= MaxFileName && s != "." && s != ".." && utf8.ValidString(s) && !strings.ContainsAny(s, "/\\") && !strings.ContainsFunc(s, unicode.IsControl)
}
