package catalogue

import (
	"fmt"
	"strconv"
)

// Type is the type of an argument.
type Type uint8

// The types of arguments and of the values given for them.
const (
	TypeInt     Type = iota + 1 // a 64-bit integer
	TypeFloat                   // a finite 64-bit floating-point number
	TypeString                  // UTF-8 text
	TypeBool                    // true or false
	TypeFileIn                  // a file that the client sends
	TypeFileOut                 // a file that the job writes; no request gives it
	TypeText                    // of values only: as a person typed it, read by the argument's type
)

var typeNames = [...]string{
	TypeInt: "int", TypeFloat: "float", TypeString: "string", TypeBool: "bool",
	TypeFileIn: "file", TypeFileOut: "file-out", TypeText: "text",
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
}

// Value is one argument's value. The zero Value is no value. Values can be
// compared with ==.
type Value struct {
	kind Type
	num  int64 // int; bool as 0 or 1
	real float64
	text string // string, text
	file File
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

// File returns a file's reference, the zero File of other types.
func (v Value) File() File { return v.file }

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
	case TypeFileIn:
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
	default:
		return strconv.Quote(s)
	}
}
