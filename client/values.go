package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"reflect"
)

// outlet is where a file that a call writes goes. Exactly one of the last three
// is set.
type outlet struct {
	argument string
	done     bool
	path     string
	bytes    *[]byte
	writer   *onward
}

// fill brings the file.
func (o *outlet) fill(ctx context.Context, c *Client, job string) error {
	if o.done {
		return nil
	}
	var (
		content bytes.Buffer
		err     error
	)
	switch {
	case o.bytes != nil:
		if err = c.Download(ctx, job, o.argument, &content); err == nil {
			*o.bytes = content.Bytes()
		}
	case o.writer != nil:
		o.writer.at = 0
		err = c.Download(ctx, job, o.argument, o.writer)
	default:
		err = c.Save(ctx, job, o.argument, o.path)
	}
	o.done = err == nil
	return err
}

// onward writes to w what lies beyond what it has written before, so that a file
// that is brought again after a failure is not written twice.
type onward struct {
	w    io.Writer
	past int64 // written
	at   int64 // of this time
}

func (o *onward) Write(p []byte) (int, error) {
	known := min(max(o.past-o.at, 0), int64(len(p)))
	o.at += known
	if int(known) == len(p) {
		return len(p), nil
	}
	n, err := o.w.Write(p[known:])
	o.at += int64(n)
	o.past += int64(n)
	return int(known) + n, err
}

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
		return nil, nil, &Error{
			Reason: reasonWrongType, Field: "request.arguments", Accepted: fmt.Sprintf("at most %d arguments", len(declared)),
			Message: fmt.Sprintf("service %s: %d arguments", h.service.Name, len(values)),
		}
	}
	named := (&request{}).names(given)
	for i := range declared {
		about := &declared[i]
		if i >= len(values) || values[i] == nil {
			if about.Required && !named[about.Name] {
				return nil, nil, &Error{
					Reason: reasonMissingArgument, Field: "request.arguments." + about.Name, Accepted: accepted(about.Type),
					Message: fmt.Sprintf("service %s: argument %d, %s, is missing", h.service.Name, i+1, about.Name),
				}
			}
			continue
		}
		var (
			arg Arg
			out *outlet
		)
		if about.Type == TypeFileOut {
			out = toOutlet(about.Name, values[i])
		} else {
			arg = toArg(about, values[i])
		}
		switch {
		case arg != nil:
			given = append(given, arg)
		case out != nil:
			outlets = append(outlets, out)
		default:
			return nil, nil, &Error{
				Reason: reasonWrongType, Field: "request.arguments." + about.Name, Accepted: accepted(about.Type),
				Message: fmt.Sprintf("service %s: argument %d, %s, is a %T", h.service.Name, i+1, about.Name, values[i]),
			}
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

// accepted says which Go values an argument takes.
func accepted(t ArgumentType) string {
	switch t {
	case TypeInt:
		return "an integer of 64 bits"
	case TypeFloat:
		return "a number"
	case TypeString:
		return "a string"
	case TypeBool:
		return "a bool"
	case TypeFile:
		return "a string, the path of a file, or a []byte, its content"
	case TypeFileOut:
		return "a string, the path to write to, a *[]byte, an io.Writer, or nil"
	}
	return "nothing: this client does not know the type " + string(t)
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
	}
	return nil
}

// toOutlet returns where a file goes, nil for what it cannot go to.
func toOutlet(name string, v any) *outlet {
	switch v := v.(type) {
	case string:
		return &outlet{argument: name, path: v}
	case *[]byte:
		if v != nil {
			return &outlet{argument: name, bytes: v}
		}
	case io.Writer:
		return &outlet{argument: name, writer: &onward{w: v}}
	}
	return nil
}
