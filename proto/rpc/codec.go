package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// codec decodes requests. Connect reports the error of a codec without a detail and past
// all interceptors. So this codec never fails: it stores the problem of an invalid message
// in the message, where readable finds it.
type codec struct {
	name      string
	marshal   func(b []byte, m proto.Message) ([]byte, error)
	unmarshal func(b []byte, m proto.Message) error
	problem   func(b []byte, m proto.Message, err error) *problem.Problem
}

// unread is the field number of the stored problem. No message of Drover uses it.
const unread = protowire.MaxValidNumber

// codecs returns the codecs of a server. An unknown field is an error in JSON, which
// people write. The binary codec ignores it, because newer programs may send more.
func codecs() []connect.HandlerOption {
	var all []connect.HandlerOption
	for _, name := range []string{"json", "json; charset=utf-8"} {
		all = append(all, connect.WithCodec(&codec{
			name:      name,
			marshal:   protojson.MarshalOptions{}.MarshalAppend,
			unmarshal: protojson.Unmarshal,
			problem:   misread,
		}))
	}
	return append(all, connect.WithCodec(&codec{
		name:      "proto",
		marshal:   proto.MarshalOptions{}.MarshalAppend,
		unmarshal: proto.Unmarshal,
		problem: func([]byte, proto.Message, error) *problem.Problem {
			return &problem.Problem{
				Reason: problem.BadValue, Accepted: "a message of drover.v1",
				Message: "the message cannot be read: it is damaged, or of another type",
			}
		},
	}), connect.WithInterceptors(readable{}))
}

// Name implements connect.Codec.
func (c *codec) Name() string { return c.name }

// Marshal implements connect.Codec.
func (c *codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend is Marshal into a buffer of Connect.
func (c *codec) MarshalAppend(b []byte, message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", message)
	}
	return c.marshal(b, m)
}

// Unmarshal implements connect.Codec.
func (c *codec) Unmarshal(b []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return errors.New("no message is expected")
	}
	if len(b) == 0 && strings.HasPrefix(c.name, "json") {
		b = []byte("{}") // an empty body is an empty message
	}
	err := c.unmarshal(b, m)
	if err == nil {
		return nil
	}
	why, failed := proto.Marshal(DetailOf(c.problem(b, m, err)))
	if failed != nil { // cannot happen: DetailOf returns valid UTF-8
		return errors.New("the message cannot be read")
	}
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, unread, protowire.BytesType), why))
	return nil
}

// readable returns the problems of messages that could not be decoded.
type readable struct{}

// WrapUnary implements connect.Interceptor.
func (readable) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if err := reread(req.Any()); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

// WrapStreamingClient implements connect.Interceptor. Serve makes no clients.
func (readable) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (readable) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return next(ctx, readableConn{conn})
	}
}

type readableConn struct{ connect.StreamingHandlerConn }

// Receive implements connect.StreamingHandlerConn.
func (c readableConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	return reread(message)
}

// reread returns the problem stored in a message, nil for none.
func reread(message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return nil
	}
	number, kind, n := protowire.ConsumeTag(m.ProtoReflect().GetUnknown())
	if n < 0 || number != unread || kind != protowire.BytesType {
		return nil
	}
	why, n := protowire.ConsumeBytes(m.ProtoReflect().GetUnknown()[n:])
	var detail droverv1.ErrorDetail
	if n < 0 || proto.Unmarshal(why, &detail) != nil {
		return nil //nolint:nilerr // an unknown field, not a stored problem
	}
	p := ProblemOf(&detail)
	return WithDetail(p, p)
}

// location matches the line, column and text of an error of protojson.
var location = regexp.MustCompile(`^proto:.\(line (\d+):(\d+)\):.(.*)$`)

// misread returns the problem of an invalid JSON message.
func misread(b []byte, m proto.Message, err error) *problem.Problem {
	p := &problem.Problem{Reason: problem.BadValue, Accepted: "JSON of the message's own fields"}
	var value any
	if json.Unmarshal(b, &value) == nil {
		if field, known := unknownField(value, m.ProtoReflect().Descriptor()); field != "" {
			p.Field, p.Accepted = field, "one of "+strings.Join(known, ", ")
			p.Message = fmt.Sprintf("there is no field %.70q", field)
			p.Hint = "see docs/http.md and the .proto files for the names"
			return p
		}
	}
	p.Message = "the message cannot be read as JSON"
	if where := location.FindStringSubmatch(err.Error()); where != nil {
		p.Message = fmt.Sprintf("line %s, column %s: %.200s", where[1], where[2], where[3])
	}
	return p
}

// unknownField returns the path of the first unknown field of a JSON object, and the known
// names there; "" if all are known.
func unknownField(value any, d protoreflect.MessageDescriptor) (path string, known []string) {
	object, ok := value.(map[string]any)
	if !ok || strings.HasPrefix(string(d.FullName()), "google.protobuf.") {
		return "", nil
	}
	fields := d.Fields()
	for i := range fields.Len() {
		known = append(known, fields.Get(i).JSONName())
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f := fields.ByJSONName(name)
		if f == nil {
			f = fields.ByTextName(name)
		}
		if f == nil {
			return name, known
		}
		if inner, names := unknownFieldIn(object[name], f); inner != "" {
			return name + inner, names
		}
	}
	return "", nil
}

// unknownFieldIn is unknownField for the value of a field.
func unknownFieldIn(value any, f protoreflect.FieldDescriptor) (path string, known []string) {
	d := f.Message()
	if f.IsMap() {
		d = f.MapValue().Message()
	}
	if d == nil {
		return "", nil
	}
	switch v := value.(type) {
	case []any:
		for i, e := range v {
			if path, known := unknownField(e, d); path != "" && f.IsList() {
				return "[" + strconv.Itoa(i) + "]." + path, known
			}
		}
	case map[string]any:
		if !f.IsMap() {
			path, known = unknownField(v, d)
			break
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if path, known := unknownField(v[key], d); path != "" {
				return "." + key + "." + path, known
			}
		}
	}
	if path != "" {
		path = "." + path
	}
	return path, known
}
