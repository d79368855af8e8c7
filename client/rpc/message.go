package rpc

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Message is a message of drover.v1 as an agent or a server sent it. A struct
// with a field of this type keeps the message that it was decoded from. The zero
// Message is none.
type Message struct{ m proto.Message }

// message returns the answer of a call.
func message(m proto.Message, err error) (Message, error) {
	if err != nil {
		return Message{}, err
	}
	return Message{m}, nil
}

// Decode fills a struct by the tags of its fields. A field that the message
// does not set is left as it is.
func (m Message) Decode(into any) {
	if m.m != nil {
		readStruct(reflect.ValueOf(into).Elem(), m.m.ProtoReflect())
	}
}

// NextPageToken returns where a list continues, "" after its last page.
func (m Message) NextPageToken() string {
	if page, ok := m.m.(interface{ GetNextPageToken() string }); ok {
		return page.GetNextPageToken()
	}
	return ""
}

// JSON returns the JSON of a value that mirrors the message of drover.v1 with
// this name: of the message that the value was decoded from, or else of the one
// that its fields describe. It is the JSON that the HTTP API returns.
func JSON(name string, v any) ([]byte, error) {
	if kept := keptBy(reflect.ValueOf(v)); kept != nil {
		return protojson.Marshal(kept)
	}
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("drover.v1." + name))
	if err != nil {
		return nil, fmt.Errorf("encode a %T as %s: %w", v, name, err)
	}
	m := t.New()
	writeStruct(m, reflect.ValueOf(v))
	return protojson.Marshal(m.Interface())
}

// fill fills a message from a struct by the tags of its fields, and returns it.
func fill[M proto.Message](m M, from any) M {
	writeStruct(m.ProtoReflect(), reflect.Indirect(reflect.ValueOf(from)))
	return m
}

// Request is a drover.v1.Request: what is to be executed.
type Request struct{ m *droverv1.Request }

// NewRequest encodes a struct by the tags of its fields.
func NewRequest(from any) Request { return Request{fill(&droverv1.Request{}, from)} }

// Request returns the request in a Job, false if the record has none: an agent
// that only remembers a job knows no more than its service.
func (m Message) Request() (Request, bool) {
	job, ok := m.m.(*droverv1.Job)
	return Request{job.GetRequest()}, ok && job.GetRequest().GetService() != ""
}

// Retry returns a copy of the request for a new attempt of the job with this ID,
// with fresh handles for the data that it keeps: both attempts may be executed,
// and they need not write the same content.
func (r Request) Retry(of string, fresh func() (string, error)) (Request, error) {
	m := proto.CloneOf(r.m)
	m.RetryOf = of
	for _, name := range slices.Sorted(maps.Keys(m.GetKeep())) {
		id, err := fresh()
		if err != nil {
			return Request{}, err
		}
		m.GetKeep()[name].DataId = id
	}
	return Request{m}, nil
}

// Idempotent reports whether executing the request twice does no harm.
func (r Request) Idempotent() bool { return r.m.GetIdempotent() }

// Sent returns the first argument, by name, whose content the client has to
// send, "" if there is none.
func (r Request) Sent() string {
	for _, name := range slices.Sorted(maps.Keys(r.m.GetArguments())) {
		if c := contentOf(r.m.GetArguments()[name]); c != nil && c.GetDataId() == "" {
			return name
		}
	}
	return ""
}

// Handles returns the stored data that the request uses: handle to argument.
func (r Request) Handles() map[string]string {
	names := make(map[string]string)
	for name, v := range r.m.GetArguments() {
		if id := contentOf(v).GetDataId(); id != "" {
			names[id] = name
		}
	}
	return names
}

// From returns a message as if it had been received. It is for tests.
func From(m proto.Message) Message { return Message{m} }
