package client

import (
	"encoding/binary"
	"math"
)

// ElementType is what the elements of a vector or matrix are.
type ElementType string

// The types of elements.
const (
	Float64    ElementType = "float64"
	Float32    ElementType = "float32"
	Int64      ElementType = "int64"
	Int32      ElementType = "int32"
	Uint8      ElementType = "uint8"
	Complex128 ElementType = "complex128"
)

// Element are the Go types of elements.
type Element interface {
	float64 | float32 | int64 | int32 | uint8 | complex128
}

// Size returns how many bytes an element has, 0 of a type that is none.
func (e ElementType) Size() int64 {
	switch e {
	case Complex128:
		return 16
	case Float64, Int64:
		return 8
	case Float32, Int32:
		return 4
	case Uint8:
		return 1
	}
	return 0
}

// elementType returns the type of T.
func elementType[T Element]() ElementType {
	switch any(*new(T)).(type) {
	case float64:
		return Float64
	case float32:
		return Float32
	case int64:
		return Int64
	case int32:
		return Int32
	case complex128:
		return Complex128
	}
	return Uint8
}

var order = binary.LittleEndian

// encode writes elements as they travel, to as many bytes as they have.
func encode[T Element](to []byte, from []T) {
	switch from := any(from).(type) {
	case []float64:
		for i, v := range from {
			order.PutUint64(to[8*i:], math.Float64bits(v))
		}
	case []float32:
		for i, v := range from {
			order.PutUint32(to[4*i:], math.Float32bits(v))
		}
	case []int64:
		for i, v := range from {
			order.PutUint64(to[8*i:], uint64(v))
		}
	case []int32:
		for i, v := range from {
			order.PutUint32(to[4*i:], uint32(v))
		}
	case []complex128:
		for i, v := range from {
			order.PutUint64(to[16*i:], math.Float64bits(real(v)))
			order.PutUint64(to[16*i+8:], math.Float64bits(imag(v)))
		}
	case []uint8:
		copy(to, from)
	}
}

// decode is the reverse.
func decode[T Element](to []T, from []byte) {
	switch to := any(to).(type) {
	case []float64:
		for i := range to {
			to[i] = math.Float64frombits(order.Uint64(from[8*i:]))
		}
	case []float32:
		for i := range to {
			to[i] = math.Float32frombits(order.Uint32(from[4*i:]))
		}
	case []int64:
		for i := range to {
			to[i] = int64(order.Uint64(from[8*i:]))
		}
	case []int32:
		for i := range to {
			to[i] = int32(order.Uint32(from[4*i:]))
		}
	case []complex128:
		for i := range to {
			to[i] = complex(math.Float64frombits(order.Uint64(from[16*i:])), math.Float64frombits(order.Uint64(from[16*i+8:])))
		}
	case []uint8:
		copy(to, from)
	}
}
