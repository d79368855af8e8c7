package client

import (
	"slices"
	"strings"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

const elementPrefix = "ELEMENT_TYPE_"

func elementIn(e droverv1.ElementType) ElementType {
	return ElementType(word(e.String(), elementPrefix))
}

func elementOut(e ElementType) droverv1.ElementType {
	return droverv1.ElementType(droverv1.ElementType_value[elementPrefix+strings.ToUpper(string(e))])
}

// fileOut returns content as the value of an argument.
func fileOut(f *file) *droverv1.Value {
	content := &droverv1.File{Sha256: f.sha256, SizeBytes: f.size, Name: f.name}
	if f.block == nil {
		return &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: content}}
	}
	return &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
		Content: content, Element: elementOut(f.block.Element), Dimensions: slices.Clone(f.block.Dimensions),
	}}}
}

// arrayName returns an array for people.
func arrayName(a *droverv1.Array) string {
	if a.GetContent().GetDataId() != "" {
		return nameOf(a.GetContent())
	}
	return arrayText(elementIn(a.GetElement()), a.GetDimensions())
}

func outputIn(o *droverv1.Output) Output {
	return Output{
		Argument: o.GetArgument(), Size: o.GetSizeBytes(), SHA256: o.GetSha256(), Data: o.GetDataId(),
		Element: elementIn(o.GetElement()), Dimensions: slices.Clone(o.GetDimensions()),
	}
}
