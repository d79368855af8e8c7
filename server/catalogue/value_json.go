package catalogue

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// wireValue is a Value as JSON: one of the fields is there. Floats are text, so
// that each of them comes back as it was.
type wireValue struct {
	Int    *int64     `json:"int,omitempty"`
	Float  *string    `json:"float,omitempty"`
	String *string    `json:"string,omitempty"`
	Bool   *bool      `json:"bool,omitempty"`
	File   *File      `json:"file,omitempty"`
	Text   *string    `json:"text,omitempty"`
	Array  *wireArray `json:"array,omitempty"`
}

// wireArray is a vector or a matrix.
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

// MarshalJSON writes the value with its type: {"int":3}. The zero Value is {}.
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
