package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Type is the type of an argument.
type Type uint8

// The types of arguments and of their values.
const (
	TypeInt         Type = iota + 1 // a 64-bit integer
	TypeFloat                       // a finite 64-bit floating-point number
	TypeString                      // UTF-8 text
	TypeBool                        // true or false
	TypeFileIn                      // a file that the client sends
	TypeFileOut                     // a file that the job writes; requests give none
	TypeText                        // of values only: typed text, which Bind converts to the argument's type
	TypeFileInOut                   // a file that the client sends and the job changes
	TypeVector                      // a vector that the client sends
	TypeVectorOut                   // a vector that the job writes; requests give none
	TypeVectorInOut                 // a vector that the client sends and the job changes
	TypeMatrix                      // a matrix that the client sends
	TypeMatrixOut                   // a matrix that the job writes; requests give none
	TypeMatrixInOut                 // a matrix that the client sends and the job changes
)

var typeNames = [...]string{
	TypeInt: "int", TypeFloat: "float", TypeString: "string", TypeBool: "bool",
	TypeFileIn: "file", TypeFileOut: "file-out", TypeText: "text", TypeFileInOut: "file-inout",
	TypeVector: "vector", TypeVectorOut: "vector-out", TypeVectorInOut: "vector-inout",
	TypeMatrix: "matrix", TypeMatrixOut: "matrix-out", TypeMatrixInOut: "matrix-inout",
}

// String returns the type's name in the catalogue file.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return "unspecified"
}

// File is a reference to a file's content. The catalogue uses only its size and name.
type File struct {
	SHA256 string `json:"sha256,omitempty"` // of the content; can be empty in a request for an estimate
	Size   int64  `json:"size,omitempty"`   // bytes, at least 0
	Name   string `json:"name,omitempty"`   // base name for the program; can be empty
	Data   string `json:"data,omitempty"`   // handle of data kept at a site; see package depot
}

// In reports whether the client sends content for arguments of the type.
func (t Type) In() bool {
	switch t {
	case TypeFileIn, TypeFileInOut, TypeVector, TypeVectorInOut, TypeMatrix, TypeMatrixInOut:
		return true
	}
	return false
}

// Out reports whether the job writes arguments of the type.
func (t Type) Out() bool {
	switch t {
	case TypeFileOut, TypeFileInOut, TypeVectorOut, TypeVectorInOut, TypeMatrixOut, TypeMatrixInOut:
		return true
	}
	return false
}

// Rank returns the number of dimensions of the type: 1 for vectors, 2 for matrices, else
// 0.
func (t Type) Rank() int {
	switch t {
	case TypeVector, TypeVectorOut, TypeVectorInOut:
		return 1
	case TypeMatrix, TypeMatrixOut, TypeMatrixInOut:
		return 2
	}
	return 0
}

// given returns the type of the values in requests for arguments of the type; 0 for
// outputs, which requests do not give.
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
	kind Type  // as returned by Type.given: the input type also for -inout
	num  int64 // int; bool as 0 or 1
	real float64
	text string // string, text
	file File   // file; block of an array

	element Element
	dims    [2]int64 // a vector uses the first
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

// Array returns the value of a vector or matrix with its block and layout. A layout
// without one or two dimensions gives the zero Value.
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

// Text returns a value of typed text. Bind converts it to the argument's type: "3" is a
// number for an int and text for a string. Files and arrays do not accept it.
func Text(s string) Value { return Value{kind: TypeText, text: s} }

// Type returns the value's type; 0 for the zero Value.
func (v Value) Type() Type { return v.kind }

// Int returns an int's value; 0 for other types.
func (v Value) Int() int64 {
	if v.kind != TypeInt {
		return 0
	}
	return v.num
}

// Float returns a float's or an int's value; 0 for other types.
func (v Value) Float() float64 {
	if v.kind == TypeInt {
		return float64(v.num)
	}
	return v.real
}

// Bool returns a bool's value; false for other types.
func (v Value) Bool() bool { return v.kind == TypeBool && v.num != 0 }

// Text returns the text of a string or a Text value; "" for other types.
func (v Value) Text() string { return v.text }

// File returns the reference to a file or to the block of an array; the zero File for
// other types.
func (v Value) File() File { return v.file }

// WithFile returns the same file or array with another reference to its content.
func (v Value) WithFile(f File) Value {
	if v.kind.In() {
		v.file = f
	}
	return v
}

// Layout returns the layout of an array; the zero Layout for other types.
func (v Value) Layout() Layout {
	if v.kind.Rank() == 0 {
		return Layout{}
	}
	return Layout{Element: v.element, Dims: slices.Clone(v.dims[:v.kind.Rank()])}
}

// String formats the value for an argument vector. A file becomes its name: only the
// launch knows its path.
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

// quote formats a value for an error message and cuts it to a readable length.
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

// wireValue is a Value as JSON: exactly one field is set. Floats are text, so that every
// float survives a round trip.
type wireValue struct {
	Int    *int64     `json:"int,omitempty"`
	Float  *string    `json:"float,omitempty"`
	String *string    `json:"string,omitempty"`
	Bool   *bool      `json:"bool,omitempty"`
	File   *File      `json:"file,omitempty"`
	Text   *string    `json:"text,omitempty"`
	Array  *wireArray `json:"array,omitempty"`
}

// wireArray is a vector or matrix as JSON.
type wireArray struct {
	File
	Element string  `json:"element"`
	Dims    []int64 `json:"dims"`
}

func (a *wireArray) value() (Value, error) {
	e, known := ElementNamed(a.Element)
	v := Array(a.File, Layout{Element: e, Dims: a.Dims})
	if a.Element != Element(0).String() && !known || v.kind == 0 {
		return Value{}, fmt.Errorf("value: array of %d dimensions of %.70q", len(a.Dims), a.Element)
	}
	return v, nil
}

// MarshalJSON encodes the value with its type: {"int":3}. The zero Value is {}.
func (v Value) MarshalJSON() ([]byte, error) {
	var w wireValue
	switch v.kind {
	case TypeInt:
		w.Int = &v.num
	case TypeFloat:
		text := strconv.FormatFloat(v.real, 'g', -1, 64)
		w.Float = &text
	case TypeString:
		w.String = &v.text
	case TypeBool:
		is := v.num != 0
		w.Bool = &is
	case TypeFileIn:
		w.File = &v.file
	case TypeText:
		w.Text = &v.text
	case TypeVector, TypeMatrix:
		w.Array = &wireArray{File: v.file, Element: v.element.String(), Dims: v.dims[:v.kind.Rank()]}
	}
	return json.Marshal(w)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (v *Value) UnmarshalJSON(b []byte) error {
	var w wireValue
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	*v = Value{}
	switch {
	case w.Int != nil:
		*v = Int(*w.Int)
	case w.Float != nil:
		f, err := strconv.ParseFloat(*w.Float, 64)
		if err != nil {
			return fmt.Errorf("value: float: %w", err)
		}
		*v = Float(f)
	case w.String != nil:
		*v = String(*w.String)
	case w.Bool != nil:
		*v = Bool(*w.Bool)
	case w.File != nil:
		*v = FileIn(*w.File)
	case w.Text != nil:
		*v = Text(*w.Text)
	case w.Array != nil:
		var err error
		*v, err = w.Array.value()
		return err
	}
	return nil
}
