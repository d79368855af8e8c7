package rpc

import (
	"fmt"
	"strconv"
	"strings"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Content is the value of an argument with content that travels apart from the
// request: a file, or the elements of a vector or matrix.
type Content struct {
	SHA256     string // hexadecimal; empty for stored data
	Size       int64  // bytes
	Name       string // base name that the program sees
	Data       string // handle of stored data; empty for content that is sent
	Element    string // of a vector or matrix; empty for a file
	Dimensions []int64
}

// valueOf returns an argument's value: an int64, float64, bool or Content, and
// text for anything else.
func valueOf(v any) *droverv1.Value {
	switch v := v.(type) {
	case int64:
		return &droverv1.Value{Kind: &droverv1.Value_IntValue{IntValue: v}}
	case float64:
		return &droverv1.Value{Kind: &droverv1.Value_FloatValue{FloatValue: v}}
	case bool:
		return &droverv1.Value{Kind: &droverv1.Value_BoolValue{BoolValue: v}}
	case Content:
		return contentValue(v)
	default:
		return &droverv1.Value{Kind: &droverv1.Value_StringValue{StringValue: fmt.Sprint(v)}}
	}
}

func contentValue(c Content) *droverv1.Value {
	file := &droverv1.File{Sha256: c.SHA256, SizeBytes: c.Size, Name: c.Name, DataId: c.Data}
	if c.Element == "" {
		return &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: file}}
	}
	element := numberOf(droverv1.ElementType(0).Descriptor(), c.Element)
	return &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
		Content: file, Element: droverv1.ElementType(element), Dimensions: c.Dimensions,
	}}}
}

// contentOf returns the content of a value, nil if it has none.
func contentOf(v *droverv1.Value) *droverv1.File {
	if a := v.GetArrayValue(); a != nil {
		return a.GetContent()
	}
	return v.GetFileValue()
}

// textOf returns an argument's value for people: the name of a file, the type
// and dimensions of an array, the handle of stored data, "" for no value.
func textOf(v *droverv1.Value) string {
	if id := contentOf(v).GetDataId(); id != "" {
		return "data:" + id
	}
	switch k := v.GetKind().(type) {
	case *droverv1.Value_IntValue:
		return strconv.FormatInt(k.IntValue, 10)
	case *droverv1.Value_FloatValue:
		return strconv.FormatFloat(k.FloatValue, 'g', -1, 64)
	case *droverv1.Value_StringValue:
		return k.StringValue
	case *droverv1.Value_BoolValue:
		return strconv.FormatBool(k.BoolValue)
	case *droverv1.Value_FileValue:
		return k.FileValue.GetName()
	case *droverv1.Value_ArrayValue:
		element := wordOf(k.ArrayValue.GetElement().Descriptor(), k.ArrayValue.GetElement().Number())
		return ArrayText(element, k.ArrayValue.GetDimensions())
	}
	return ""
}

// ArrayText describes a vector or matrix for people: "2 x 3 of float64".
func ArrayText(element string, dimensions []int64) string {
	if len(dimensions) == 0 { // an output of a wrong size
		return "an array of " + element
	}
	parts := make([]string, len(dimensions))
	for i, d := range dimensions {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return strings.Join(parts, " x ") + " of " + element
}
