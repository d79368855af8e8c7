package catalogue

import (
	"fmt"
	"slices"
	"strconv"
)

// Type is the type of an argument.
type Type uint8

// The types of arguments and of the values given for them.
const (
	TypeInt         Type = iota + 1 // a 64-bit integer
	TypeFloat                       // a finite 64-bit floating-point number
	TypeString                      // UTF-8 text
	TypeBool                        // true or false
	TypeFileIn                      // a file that the client sends
	TypeFileOut                     // a file that the job writes; no request gives it
	TypeText                        // of values only: as a person typed it, read by the argument's type
	TypeFileInOut                   // a file that the client sends and the job changes
	TypeVector                      // a vector that the client sends
	TypeVectorOut                   // a vector that the job writes; no request gives it
	TypeVectorInOut                 // a vector that the client sends and the job changes
	TypeMatrix                      // a matrix that the client sends
	TypeMatrixOut                   // a matrix that the job writes; no request gives it
	TypeMatrixInOut                 // a matrix that the client sends and the job changes
)

var typeNames = [...]string{
	TypeInt: "int", TypeFloat: "float", TypeString: "string", TypeBool: "bool",
	TypeFileIn: "file", TypeFileOut: "file-out", TypeText: "text", TypeFileInOut: "file-inout",
	TypeVector: "vector", TypeVectorOut: "vector-out", TypeVectorInOut: "vector-inout",
	TypeMatrix: "matrix", TypeMatrixOut: "matrix-out", TypeMatrixInOut: "matrix-inout",
}

// String returns the type's name as the catalogue file writes it.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return "unspecified"
}

// File is a reference to a file's content. The catalogue looks at its size only.
type File struct {
	SHA256 string `json:"sha256,omitempty"` // of the content; may be empty when only an estimate is asked for
	Size   int64  `json:"size,omitempty"`   // bytes, at least 0
	Name   string `json:"name,omitempty"`   // base name that the program should see; may be empty
	Data   string `json:"data,omitempty"`   // handle of data that stay at a site, if the request names those; see package depot
}

// In says whether the client sends content for arguments of the type.
func (t Type) In() bool {
	switch t {
	case TypeFileIn, TypeFileInOut, TypeVector, TypeVectorInOut, TypeMatrix, TypeMatrixInOut:
		return true
	}
	return false
}

// Out says whether the job writes what arguments of the type are afterwards.
func (t Type) Out() bool {
	switch t {
	case TypeFileOut, TypeFileInOut, TypeVectorOut, TypeVectorInOut, TypeMatrixOut, TypeMatrixInOut:
		return true
	}
	return false
}

// Rank returns how many dimensions arguments of the type have: 1 of vectors, 2 of
// matrices, else 0.
func (t Type) Rank() int {
	switch t {
	case TypeVector, TypeVectorOut, TypeVectorInOut:
		return 1
	case TypeMatrix, TypeMatrixOut, TypeMatrixInOut:
		return 2
	}
	return 0
}

// given returns the type of the values that requests give for arguments of the type; 0
// when they give none.
func (t Type) given() Type {
	switch {
	case !t.In():
		if t.Out() {
			return 0
		}
		return t
	case t.Rank() == 1:
		return TypeVector
	case t.Rank() == 2:
		return TypeMatrix
	}
	return TypeFileIn
}

// Value is one argument's value. The zero Value is no value. Values can be
// compared with ==.
type Value struct {
	kind Type  // one that is given: of what goes in and out that of what goes in
	num  int64 // int; bool as 0 or 1
	real float64
	text string // string, text
	file File   // of arrays the block

	element Element
	dims    [2]int64 // of a vector the first one
}

// Int returns the value of an int argument; a float argument takes it too.
func Int(i int64) Value { return Value{kind: TypeInt, num: i} }

// Float returns the value of a float argument.
func Float(f float64) Value { return Value{kind: TypeFloat, real: f} }

// String returns the value of a string argument.
func String(s string) Value { return Value{kind: TypeString, text: s} }

// Bool returns the value of a bool argument.
func Bool(b bool) Value {
	v := Value{kind: TypeBool}
	if b {
		v.num = 1
	}
	return v
}

// FileIn returns the value of a file argument.
func FileIn(f File) Value { return Value{kind: TypeFileIn, file: f} }

// Array returns the value of a vector or matrix: its block and how it is to be read. It
// is no value unless there are one or two dimensions.
func Array(block File, l Layout) Value {
	v := Value{file: block, element: l.Element}
	switch copy(v.dims[:], l.Dims); len(l.Dims) {
	case 1:
		v.kind = TypeVector
	case 2:
		v.kind = TypeMatrix
	default:
		return Value{}
	}
	return v
}

// Text returns a value as a person typed it. Bind reads it as the argument's
// type wants: "3" is a number for an int and a text for a string. No file can
// be given in this way.
func Text(s string) Value { return Value{kind: TypeText, text: s} }

// Type returns the value's type; 0 of the zero Value.
func (v Value) Type() Type { return v.kind }

// Int returns an int's value, 0 of other types.
func (v Value) Int() int64 {
	if v.kind != TypeInt {
		return 0
	}
	return v.num
}

// Float returns a float's or an int's value, 0 of other types.
func (v Value) Float() float64 {
	if v.kind == TypeInt {
		return float64(v.num)
	}
	return v.real
}

// Bool returns a bool's value, false of other types.
func (v Value) Bool() bool { return v.kind == TypeBool && v.num != 0 }

// Text returns the text of a string or of a Text value, "" of other types.
func (v Value) Text() string { return v.text }

// File returns the reference of a file or of the block of an array, the zero File of
// other types.
func (v Value) File() File { return v.file }

// WithFile returns the same file or array with another reference of its content.
func (v Value) WithFile(f File) Value {
	if v.kind.In() {
		v.file = f
	}
	return v
}

// Layout returns how the block of an array is to be read, the zero Layout of other types.
func (v Value) Layout() Layout {
	if v.kind.Rank() == 0 {
		return Layout{}
	}
	return Layout{Element: v.element, Dims: slices.Clone(v.dims[:v.kind.Rank()])}
}

// String formats the value as it stands in an argument vector. Of a file that is
// its name: its path is the launcher's business.
func (v Value) String() string {
	switch v.kind {
	case TypeInt:
		return strconv.FormatInt(v.num, 10)
	case TypeFloat:
		return strconv.FormatFloat(v.real, 'g', -1, 64)
	case TypeBool:
		return strconv.FormatBool(v.num != 0)
	case TypeFileIn, TypeVector, TypeMatrix:
		return v.file.Name
	default:
		return v.text
	}
}

// quote formats a value for an error message, cut to a readable length.
func (v Value) quote() string {
	s := v.String()
	const longest = 64
	if len(s) > longest {
		s = s[:longest] + "..."
	}
	switch v.kind {
	case TypeInt, TypeFloat, TypeBool:
		return s
	case TypeFileIn:
		return fmt.Sprintf("file %q of %d bytes", s, v.file.Size)
	case TypeVector, TypeMatrix:
		return fmt.Sprintf("%v %q, %v, in %d bytes", v.kind, s, v.Layout(), v.file.Size)
	default:
		return strconv.Quote(s)
	}
}
