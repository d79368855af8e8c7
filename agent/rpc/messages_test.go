package rpc

import (
	"math"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestAnArrayWithoutContentHasTheSizeOfItsDimensions(t *testing.T) {
	const float64s, bytes = droverv1.ElementType_ELEMENT_TYPE_FLOAT64, droverv1.ElementType_ELEMENT_TYPE_UINT8
	for name, c := range map[string]struct {
		array *droverv1.Array
		want  int64
	}{
		"a matrix": {&droverv1.Array{Element: float64s, Dimensions: []int64{3, 4}}, 96},
		"a vector": {&droverv1.Array{Element: bytes, Dimensions: []int64{5}}, 5},
		"one that is there": {&droverv1.Array{
			Content: &droverv1.File{SizeBytes: 7}, Element: bytes, Dimensions: []int64{5},
		}, 7},
		"an empty one": {&droverv1.Array{Element: float64s, Dimensions: []int64{0, 1 << 62}}, 0},
		"below zero":   {&droverv1.Array{Element: float64s, Dimensions: []int64{-3, 4}}, 0},
		"more than there can": {
			&droverv1.Array{Element: float64s, Dimensions: []int64{1 << 32, 1 << 32}}, math.MaxInt64,
		},
		"of no element": {&droverv1.Array{Dimensions: []int64{3}}, 0},
	} {
		v := &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: c.array}}
		r := &droverv1.Request{Arguments: map[string]*droverv1.Value{"a": v}}
		if got := NewRequest(r).InputBytes(true); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
