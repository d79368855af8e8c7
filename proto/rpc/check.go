package rpc

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// pkg begins the full names of our messages.
const pkg = "drover.v1."

// Check applies the rules to a message and everything in it. The error is a
// *problem.Problem with the path of the first bad field, which begins with path; path
// is "" for the message of a call.
func Check(path string, m proto.Message) error {
	if p := check(path, m.ProtoReflect()); p != nil {
		return p
	}
	return nil
}

func check(path string, m protoreflect.Message) *problem.Problem {
	for _, s := range planOf(m.Descriptor()) {
		at := string(s.field.Name())
		if path != "" {
			at = path + "." + at
		}
		if p := s.check(at, m); p != nil {
			return p
		}
	}
	return nil
}

// step is a field that has a rule, or messages of fields with rules.
type step struct {
	field protoreflect.FieldDescriptor
	rule  rule
	deep  bool
}

func (s *step) check(path string, m protoreflect.Message) *problem.Problem {
	if s.field.HasPresence() && !m.Has(s.field) {
		for _, l := range s.rule {
			if l.required {
				return problem.Field(l.reason, path, l.accepted, "missing")
			}
		}
		return nil
	}
	v := m.Get(s.field)
	switch {
	case s.field.IsMap():
		return s.checkMap(path, v.Map())
	case s.field.IsList():
		if p := s.checkValue(path, v); p != nil || !s.deep {
			return p
		}
		for i := range v.List().Len() {
			if p := check(path+"["+strconv.Itoa(i)+"]", v.List().Get(i).Message()); p != nil {
				return p
			}
		}
		return nil
	}
	if p := s.checkValue(path, v); p != nil || !s.deep {
		return p
	}
	return check(path, v.Message())
}

// checkMap reports the bad value with the smallest key.
func (s *step) checkMap(path string, all protoreflect.Map) (first *problem.Problem) {
	least := ""
	all.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if first != nil && k.String() > least {
			return true
		}
		p := s.checkValue(path+"."+k.String(), v)
		if p == nil && s.deep {
			p = check(path+"."+k.String(), v.Message())
		}
		if p != nil {
			first, least = p, k.String()
		}
		return true
	})
	return first
}

func (s *step) checkValue(path string, v protoreflect.Value) *problem.Problem {
	for _, l := range s.rule {
		if l.bad == nil {
			continue
		}
		if wrong := l.bad(v); wrong != "" {
			return problem.Field(l.reason, path, l.accepted, "%s", wrong)
		}
	}
	return nil
}

var plans sync.Map // of []step, by the full names of messages

// planOf returns what has to be checked of a message, in the order of its fields.
func planOf(d protoreflect.MessageDescriptor) []step {
	if known, ok := plans.Load(d.FullName()); ok {
		return known.([]step)
	}
	plan := planWithin(d, map[protoreflect.FullName]bool{})
	plans.Store(d.FullName(), plan)
	return plan
}

// planWithin is planOf. A message within itself, which none of ours has, is not
// checked again.
func planWithin(d protoreflect.MessageDescriptor, outer map[protoreflect.FullName]bool) []step {
	if outer[d.FullName()] || !strings.HasPrefix(string(d.FullName()), pkg) {
		return nil
	}
	outer[d.FullName()] = true
	defer delete(outer, d.FullName())
	var plan []step
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		name := strings.TrimPrefix(string(f.FullName()), pkg)
		r, has := rules[name]
		inner := f.Message()
		if f.IsMap() {
			inner = f.MapValue().Message()
		}
		deep := inner != nil && !checkedByHandler[name] && len(planWithin(inner, outer)) > 0
		if has || deep {
			plan = append(plan, step{field: f, rule: r, deep: deep})
		}
	}
	return plan
}

// checked applies the rules to every message that a handler receives.
type checked struct{}

// WrapUnary implements connect.Interceptor.
func (checked) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if m, ok := req.Any().(proto.Message); ok {
			if err := Check("", m); err != nil {
				return nil, err
			}
		}
		return next(ctx, req)
	}
}

// WrapStreamingClient implements connect.Interceptor. Serve makes no clients.
func (checked) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (checked) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return next(ctx, checkedConn{conn})
	}
}

type checkedConn struct{ connect.StreamingHandlerConn }

// Receive implements connect.StreamingHandlerConn.
func (c checkedConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	if m, ok := message.(proto.Message); ok {
		return Check("", m)
	}
	return nil
}
