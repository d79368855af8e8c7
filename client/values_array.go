package client

import "reflect"

// toArray returns a value as the vector or matrix that an argument is, nil for what is
// none.
func toArray(about *Argument, v any) Arg {
	if of := reflect.ValueOf(v); of.Kind() == reflect.String {
		return value(about.Name, parse(of.String(), about))
	}
	b, err := blockOf(v, about.Type.Written())
	if err == nil && b == nil {
		return nil
	}
	if err == nil {
		err = b.fits(about)
	} else {
		err = ofArgument(err, about.Name)
	}
	if err != nil {
		return value(about.Name, misfit{err})
	}
	return value(about.Name, b.file())
}

// blockOf returns a value as it travels, nil for what is no array. One that is written,
// too, is given by a pointer.
func blockOf(v any, written bool) (*Block, error) {
	if m, ok := v.(dense); ok {
		b, err := m.block()
		return &b, err
	}
	of := reflect.ValueOf(v)
	if written {
		if of.Kind() != reflect.Pointer || of.IsNil() {
			return nil, nil
		}
		of = of.Elem()
	} else if b, ok := v.(Block); ok {
		return &b, b.check()
	}
	if of.Kind() != reflect.Slice {
		return nil, nil
	}
	var b Block
	switch v := of.Convert(reflect.SliceOf(of.Type().Elem())).Interface().(type) { // without a name of its own
	case []float64:
		b = vectorBlock(v)
	case []float32:
		b = vectorBlock(v)
	case []int64:
		b = vectorBlock(v)
	case []int32:
		b = vectorBlock(v)
	case []uint8:
		b = vectorBlock(v)
	case []complex128:
		b = vectorBlock(v)
	default:
		return nil, nil
	}
	return &b, nil
}
