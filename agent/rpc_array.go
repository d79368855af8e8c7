package agent

import (
	"math"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// elementSizes are the bytes of elements.
var elementSizes = map[droverv1.ElementType]int64{
	droverv1.ElementType_ELEMENT_TYPE_FLOAT64: 8, droverv1.ElementType_ELEMENT_TYPE_FLOAT32: 4,
	droverv1.ElementType_ELEMENT_TYPE_INT64: 8, droverv1.ElementType_ELEMENT_TYPE_INT32: 4,
	droverv1.ElementType_ELEMENT_TYPE_UINT8: 1, droverv1.ElementType_ELEMENT_TYPE_COMPLEX128: 16,
}

// sizeOf returns the bytes of a value's content. Those of an array that is not there yet
// are as many as its dimensions say; whether they may be so is for servers to say.
func sizeOf(v *droverv1.Value) int64 {
	a := v.GetArrayValue()
	if size := contentOf(v).GetSizeBytes(); size != 0 || a == nil {
		return size
	}
	size := elementSizes[a.GetElement()]
	for _, d := range a.GetDimensions() {
		switch {
		case d <= 0:
			return 0
		case size > math.MaxInt64/d:
			return math.MaxInt64
		}
		size *= d
	}
	return size
}
