package client

import (
	"fmt"
	"math"
	"reflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// bind gives the values of a call the names and types that the service declares.
func (h *Handle) bind(args []any) (given []Arg, outlets []*outlet, err error) {
	var values []any
	for _, a := range args {
		if wish, ok := a.(Arg); ok {
			given = append(given, wish)
		} else {
			values = append(values, a)
		}
	}
	declared := h.service.Arguments
	if len(values) > len(declared) {
		return nil, nil, &problem.Problem{
			Reason: problem.WrongType, Field: "request.arguments", Accepted: fmt.Sprintf("at most %d arguments", len(declared)),
			Message: fmt.Sprintf("service %s: %d arguments", h.service.Name, len(values)),
		}
	}
	named := (&request{}).names(given)
	for i := range declared {
		about := &declared[i]
		if i >= len(values) || values[i] == nil {
			if about.Required && !named[about.Name] {
				return nil, nil, &problem.Problem{
					Reason: problem.MissingArgument, Field: "request.arguments." + about.Name, Accepted: accepted(about),
					Message: fmt.Sprintf("service %s: argument %d, %s, is missing", h.service.Name, i+1, about.Name),
				}
			}
			continue
		}
		arg, out, ok := toBoth(about, values[i])
		if !ok {
			return nil, nil, &problem.Problem{
				Reason: problem.WrongType, Field: "request.arguments." + about.Name, Accepted: accepted(about),
				Message: fmt.Sprintf("service %s: argument %d, %s, is a %T", h.service.Name, i+1, about.Name, values[i]),
			}
		}
		if arg != nil {
			given = append(given, arg)
		}
		if out != nil {
			outlets = append(outlets, out)
		}
	}
	return given, outlets, nil
}

// names returns the arguments that wishes give by name.
func (r *request) names(given []Arg) map[string]bool {
	for _, a := range given {
		a(r)
	}
	names := make(map[string]bool)
	for _, a := range r.args {
		names[a.name] = true
	}
	return names
}

// toBoth returns what a value is sent as, and where what comes out goes; either may be
// nil. Data that stay at a site are only sent: they never change.
func toBoth(about *Argument, v any) (arg Arg, out *outlet, ok bool) {
	sent, written := about.Type.Sent() || !about.Type.Written(), about.Type.Written()
	if of := reflect.ValueOf(v); sent && written && about.Type.Array() && of.Kind() == reflect.String && !isNPY(of.String()) {
		return nil, nil, false // numbers are no file that could be replaced
	}
	if sent {
		arg = toArg(about, v)
	}
	if _, stays := v.(*Data); written && !(sent && stays) {
		out = toOutlet(about, v)
		return arg, out, out != nil && (arg != nil || !sent)
	}
	return arg, nil, arg != nil
}

// toArg returns a value as the argument it is for, nil when it does not fit.
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
