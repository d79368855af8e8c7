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

// codec reads the requests of a face. Connect gives what a codec refuses no detail
// and no interceptor sees it, so this codec refuses nothing: it leaves why a message
// cannot be read in the message, where readable finds it.
type codec struct {
	name      string
	marshal   func(b []byte, m proto.Message) ([]byte, error)
	unmarshal func(b []byte, m proto.Message) error
	problem   func(b []byte, m proto.Message, err error) *problem.Problem
}

// unread is the field number, which no message of ours has, under which a message
// that could not be read says why.
const unread = protowire.MaxValidNumber

// codecs are those of a face. A field that is not known is an error in JSON, which
// people write; the binary form skips it, as newer programs may know more.
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
				Reason: problem.BadValue, Accepted: "a message of drover.v1", Message: "the message cannot be read: it is damaged, or another one",
			}
		},
	}), connect.WithInterceptors(readable{}))
}

// Name is connect.Codec's.
func (c *codec) Name() string { return c.name }

// Marshal is connect.Codec's.
func (c *codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend is what connect calls when it has a buffer.
func (c *codec) MarshalAppend(b []byte, message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", message)
	}
	return c.marshal(b, m)
}

// Unmarshal is connect.Codec's.
func (c *codec) Unmarshal(b []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return errors.New("no message is expected")
	}
	if len(b) == 0 && strings.HasPrefix(c.name, "json") {
		b = []byte("{}") // Connect's own codec refuses it; nothing says nothing
	}
	err := c.unmarshal(b, m)
	if err == nil {
		return nil
	}
	why, failed := proto.Marshal(DetailOf(c.problem(b, m, err)))
	if failed != nil { // a text that is not UTF-8
		return errors.New("the message cannot be read")
	}
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, unread, protowire.BytesType), why))
	return nil
}

// readable refuses messages that could not be read.
type readable struct{}

// WrapUnary is connect.Interceptor's.
func (readable) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if err := reread(req.Any()); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

// WrapStreamingClient is connect.Interceptor's; a face has no clients in it.
func (readable) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler is connect.Interceptor's.
func (readable) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return next(ctx, readableConn{conn})
	}
}

type readableConn struct{ connect.StreamingHandlerConn }

// Receive is connect.StreamingHandlerConn's.
func (c readableConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	return reread(message)
}

// reread returns why a message could not be read.
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
		return nil //nolint:nilerr // it is no note of ours
	}
	p := ProblemOf(&detail)
	return WithDetail(p, p)
}

// place is what protojson says of where it stopped, and what it was about.
var place = regexp.MustCompile(`^proto:.\(line (\d+):(\d+)\):.(.*)$`)

// misread says what is wrong with a message in JSON.
func misread(b []byte, m proto.Message, err error) *problem.Problem {
	p := &problem.Problem{Reason: problem.BadValue, Accepted: "JSON of the message's own fields"}
	var value any
	if json.Unmarshal(b, &value) == nil {
		if field, known := stranger(value, m.ProtoReflect().Descriptor()); field != "" {
			p.Field, p.Accepted = field, "one of "+strings.Join(known, ", ")
			p.Message = fmt.Sprintf("there is no field %.70q", field)
			p.Hint = "see docs/http.md and the .proto files for the names"
			return p
		}
	}
	p.Message = "the message cannot be read as JSON"
	if where := place.FindStringSubmatch(err.Error()); where != nil {
		p.Message = fmt.Sprintf("line %s, column %s: %.200s", where[1], where[2], where[3])
	}
	return p
}

// stranger returns the path of the first field that a message does not have, and the
// names of those that there are; "" when it knows all of them.
func stranger(value any, d protoreflect.MessageDescriptor) (path string, known []string) {
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
		if inner, names := strangerIn(object[name], f); inner != "" {
			return name + inner, names
		}
	}
	return "", nil
}

// strangerIn looks into the value of a field.
func strangerIn(value any, f protoreflect.FieldDescriptor) (path string, known []string) {
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
			if path, known := stranger(e, d); path != "" && f.IsList() {
				return "[" + strconv.Itoa(i) + "]." + path, known
			}
		}
	case map[string]any:
		if !f.IsMap() {
			path, known = stranger(v, d)
			break
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if path, known := stranger(v[key], d); path != "" {
				return "." + key + "." + path, known
			}
		}
	}
	if path != "" {
		path = "." + path
	}
	return path, known
}
