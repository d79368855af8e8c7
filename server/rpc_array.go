package server

import (
	"fmt"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// The types of elements on the wire.
var (
	elementsOut = map[catalogue.Element]droverv1.ElementType{
		catalogue.Float64:    droverv1.ElementType_ELEMENT_TYPE_FLOAT64,
		catalogue.Float32:    droverv1.ElementType_ELEMENT_TYPE_FLOAT32,
		catalogue.Int64:      droverv1.ElementType_ELEMENT_TYPE_INT64,
		catalogue.Int32:      droverv1.ElementType_ELEMENT_TYPE_INT32,
		catalogue.Uint8:      droverv1.ElementType_ELEMENT_TYPE_UINT8,
		catalogue.Complex128: droverv1.ElementType_ELEMENT_TYPE_COMPLEX128,
	}
	elementsIn = inverse(elementsOut)
)

func fileIn(f *droverv1.File) catalogue.File {
	return catalogue.File{SHA256: f.GetSha256(), Size: f.GetSizeBytes(), Name: f.GetName(), Data: f.GetDataId()}
}

func fileOut(f catalogue.File) *droverv1.File {
	return &droverv1.File{Sha256: f.SHA256, SizeBytes: f.Size, Name: f.Name, DataId: f.Data}
}

// arrayIn translates a vector or matrix. Whether it fits its argument is the
// catalogue's to say.
func arrayIn(name string, a *droverv1.Array) (catalogue.Value, error) {
	v := catalogue.Array(fileIn(a.GetContent()), catalogue.Layout{Element: elementsIn[a.GetElement()], Dims: a.GetDimensions()})
	if v.Type() == 0 {
		return v, &problem.Problem{
			Reason: problem.WrongDimensions, Field: "request.arguments." + name, Accepted: "1 dimension of a vector, 2 of a matrix",
			Message: fmt.Sprintf("argument %s: %d dimensions", name, len(a.GetDimensions())),
		}
	}
	return v, nil
}

// arrayOut is the inverse of arrayIn.
func arrayOut(v catalogue.Value) *droverv1.Array {
	l := v.Layout()
	return &droverv1.Array{Content: fileOut(v.File()), Element: elementsOut[l.Element], Dimensions: l.Dims}
}
