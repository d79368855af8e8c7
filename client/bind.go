package client

import (
	"fmt"
	"math"
	"reflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Bind gives positional values the names and types that the service declares. It
// returns the arguments of a request and, in place of values that the job writes, where
// to fetch its outputs. Which values fit:
//
//	int           any integer of at most 64 bits
//	float         any number
//	string        a string
//	bool          a bool
//	file          a string: the path of a file; a []byte: its content
//	file-out      a string: the path to write to; a *[]byte; an io.Writer
//	file-inout    a string: the path of a file, which is replaced; a *[]byte
//	vector        a []float64, or another type of elements; a Block; a string: the
//	              path of a .npy file, or numbers as 1,2,3
//	vector-out    a *[]float64, ...; a string: the path to write to; an io.Writer
//	vector-inout  a *[]float64, ...; a string: the path of a .npy file, which is replaced
//	matrix        a *Dense[float64], ...; a Block; a string: the path of a .npy file,
//	              or numbers as 1,2;3,4
//	matrix-out    a *Dense[float64], ...; a string: the path to write to; an io.Writer
//	matrix-inout  a *Dense[float64], ...; a string: the path of a .npy file, which is
//	              replaced
//	any input     a *Data: data that stays at a site
//	any           nil: the default; for an output, that it is not wanted
//
// Elements have the type that the service declares. An Arg among the values is passed
// through.
func (s *Service) Bind(values ...any) (args []Arg, outputs []*Destination, err error) {
	var positional []any
	for _, v := range values {
		if arg, ok := v.(Arg); ok {
			args = append(args, arg)
		} else {
			positional = append(positional, v)
		}
	}
	if len(positional) > len(s.Arguments) {
		return nil, nil, &problem.Problem{
			Reason: problem.WrongType, Field: "request.arguments", Accepted: fmt.Sprintf("at most %d arguments",
				len(s.Arguments)),
			Message: fmt.Sprintf("service %s: %d arguments", s.Name, len(positional)),
		}
	}
	named := namedBy(args)
	for i := range s.Arguments {
		about := &s.Arguments[i]
		if i >= len(positional) || positional[i] == nil {
			if about.Required && !named[about.Name] {
				return nil, nil, &problem.Problem{
					Reason: problem.MissingArgument, Field: "request.arguments." + about.Name,
					Accepted: accepted(about),
					Message:  fmt.Sprintf("service %s: argument %d, %s, is missing", s.Name, i+1, about.Name),
				}
			}
			continue
		}
		arg, out, ok := bindOne(about, positional[i])
		if !ok {
			return nil, nil, &problem.Problem{
				Reason: problem.WrongType, Field: "request.arguments." + about.Name, Accepted: accepted(about),
				Message: fmt.Sprintf("service %s: argument %d, %s, is a %T", s.Name, i+1, about.Name, positional[i]),
			}
		}
		if arg != nil {
			args = append(args, arg)
		}
		if out != nil {
			outputs = append(outputs, out)
		}
	}
	return args, outputs, nil
}

// namedBy returns the arguments that these Args give by name.
func namedBy(args []Arg) map[string]bool {
	var r request
	for _, a := range args {
		a(&r)
	}
	names := make(map[string]bool)
	for _, a := range r.args {
		names[a.name] = true
	}
	return names
}

// bindOne returns how a value is sent, and where an output goes; either may be nil. Data
// that stays at a site is only sent: it never changes.
func bindOne(about *Argument, v any) (arg Arg, out *Destination, ok bool) {
	sent, written := about.Type.Sent() || !about.Type.Written(), about.Type.Written()
	if of := reflect.ValueOf(v); sent && written && about.Type.Array() && of.Kind() == reflect.String &&
		!isNPY(of.String()) {
		return nil, nil, false // numbers are no file that could be replaced
	}
	if sent {
		arg = toArg(about, v)
	}
	if _, stays := v.(*Data); written && !(sent && stays) {
		out = destinationOf(about, v)
		return arg, out, out != nil && (arg != nil || !sent)
	}
	return arg, nil, arg != nil
}

// toArg returns a value as an argument, nil if it does not fit.
func toArg(about *Argument, v any) Arg {
	if d, ok := v.(*Data); ok {
		if d == nil || !about.Type.takesData() {
			return nil
		}
		return Stored(about.Name, d)
	}
	of := reflect.ValueOf(v)
	switch about.Type {
	case TypeInt:
		switch {
		case of.CanInt():
			return Int(about.Name, of.Int())
		case of.CanUint() && of.Uint() <= math.MaxInt64:
			return Int(about.Name, int64(of.Uint()))
		}
	case TypeFloat:
		switch {
		case of.CanFloat():
			return Float(about.Name, of.Float())
		case of.CanInt():
			return Float(about.Name, float64(of.Int()))
		case of.CanUint():
			return Float(about.Name, float64(of.Uint()))
		}
	case TypeString:
		if of.Kind() == reflect.String {
			return String(about.Name, of.String())
		}
	case TypeBool:
		if of.Kind() == reflect.Bool {
			return Bool(about.Name, of.Bool())
		}
	case TypeFile:
		if content, ok := v.([]byte); ok {
			return Content(about.Name, content)
		}
		if of.Kind() == reflect.String {
			return File(about.Name, of.String())
		}
	case TypeFileInout:
		if content, ok := v.(*[]byte); ok && content != nil {
			return Content(about.Name, *content)
		}
		if of.Kind() == reflect.String {
			return File(about.Name, of.String())
		}
	case TypeVector, TypeVectorInout, TypeMatrix, TypeMatrixInout:
		return toArray(about, v)
	}
	return nil
}

// toArray returns a value as a vector or matrix argument, nil if it is neither.
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

// blockOf returns the block of a value, nil if it is no array. An array that the job
// also writes has to be a pointer.
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
	switch v := of.Convert(reflect.SliceOf(of.Type().Elem())).Interface().(type) { // drops the name of a defined type
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
