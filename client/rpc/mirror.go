package rpc

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// tag is the key of the struct tags that name fields of messages.
const tag = "proto"

// mirror says how the fields of a struct correspond to those of a message.
type mirror struct {
	fields  []mirrored
	message int // index of the field of type Message, -1 for none
}

// mirrored is one field of a struct.
type mirrored struct {
	index int
	path  []string // of names of fields in the message; empty: the message itself
	is    string   // of a bool that mirrors an enum: the word that is true
}

var (
	mirrors     sync.Map // reflect.Type to *mirror
	messageType = reflect.TypeFor[Message]()
	problemType = reflect.TypeFor[*problem.Problem]()
)

// mirrorOf reads the tags of a struct type, once.
func mirrorOf(t reflect.Type) *mirror {
	if known, ok := mirrors.Load(t); ok {
		return known.(*mirror)
	}
	out := &mirror{message: -1}
	for i := range t.NumField() {
		if t.Field(i).Type == messageType {
			out.message = i
		}
		text, ok := t.Field(i).Tag.Lookup(tag)
		if !ok {
			continue
		}
		path, is, _ := strings.Cut(text, ",")
		f := mirrored{index: i, is: is}
		if path != "." {
			f.path = strings.Split(path, ".")
		}
		out.fields = append(out.fields, f)
	}
	mirrors.Store(t, out)
	return out
}

// keptBy returns the message that a struct was decoded from, nil for none.
func keptBy(v reflect.Value) proto.Message {
	if i := mirrorOf(v.Type()).message; i >= 0 {
		return v.Field(i).Interface().(Message).m
	}
	return nil
}

// field returns the descriptor of a field of a message. A name that the message
// does not have is a defect of the struct's tags, which tests find.
func field(m protoreflect.Message, name string) protoreflect.FieldDescriptor {
	f := m.Descriptor().Fields().ByName(protoreflect.Name(name))
	if f == nil {
		panic(fmt.Sprintf("message %s has no field %s", m.Descriptor().FullName(), name))
	}
	return f
}

func readStruct(v reflect.Value, m protoreflect.Message) {
	how := mirrorOf(v.Type())
	if how.message >= 0 {
		v.Field(how.message).Set(reflect.ValueOf(Message{m.Interface()}))
	}
next:
	for _, f := range how.fields {
		if len(f.path) == 0 {
			readStruct(v.Field(f.index), m)
			continue
		}
		at := m
		last := len(f.path) - 1
		for _, name := range f.path[:last] {
			step := field(at, name)
			if !at.Has(step) {
				continue next
			}
			at = at.Get(step).Message()
		}
		d := field(at, f.path[last])
		if !at.Has(d) && d.Kind() != protoreflect.EnumKind {
			continue
		}
		readField(v.Field(f.index), d, at.Get(d), f.is)
	}
}

func readField(v reflect.Value, d protoreflect.FieldDescriptor, from protoreflect.Value, is string) {
	switch {
	case d.IsMap():
		v.Set(reflect.MakeMap(v.Type()))
		from.Map().Range(func(k protoreflect.MapKey, e protoreflect.Value) bool {
			element := reflect.New(v.Type().Elem()).Elem()
			readValue(element, d.MapValue(), e, is)
			v.SetMapIndex(reflect.ValueOf(k.Interface()), element)
			return true
		})
	case d.IsList():
		list := from.List()
		v.Set(reflect.MakeSlice(v.Type(), list.Len(), list.Len()))
		for i := range list.Len() {
			readValue(v.Index(i), d, list.Get(i), is)
		}
	default:
		readValue(v, d, from, is)
	}
}

func readValue(v reflect.Value, d protoreflect.FieldDescriptor, from protoreflect.Value, is string) {
	if d.Message() != nil {
		switch m := from.Message().Interface().(type) {
		case *timestamppb.Timestamp:
			v.Set(reflect.ValueOf(m.AsTime()))
			return
		case *droverv1.Value:
			v.SetString(textOf(m))
			return
		case *droverv1.ErrorDetail:
			v.Set(reflect.ValueOf(rpc.ProblemOf(m)))
			return
		}
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if d.Message() != nil {
		if span, ok := from.Message().Interface().(*durationpb.Duration); ok {
			v.SetInt(int64(span.AsDuration()))
			return
		}
	}
	switch {
	case d.Kind() == protoreflect.EnumKind && v.Kind() == reflect.Bool:
		v.SetBool(wordOf(d.Enum(), from.Enum()) == is)
	case d.Kind() == protoreflect.EnumKind:
		v.SetString(wordOf(d.Enum(), from.Enum()))
	case v.Kind() == reflect.Struct:
		readStruct(v, from.Message())
	default:
		v.Set(reflect.ValueOf(from.Interface()).Convert(v.Type()))
	}
}

func writeStruct(m protoreflect.Message, v reflect.Value) {
	for _, f := range mirrorOf(v.Type()).fields {
		from := v.Field(f.index)
		if from.IsZero() {
			continue
		}
		if len(f.path) == 0 {
			writeStruct(m, from)
			continue
		}
		at := m
		last := len(f.path) - 1
		for _, name := range f.path[:last] {
			at = at.Mutable(field(at, name)).Message()
		}
		writeField(at, field(at, f.path[last]), from, f.is)
	}
}

func writeField(m protoreflect.Message, d protoreflect.FieldDescriptor, from reflect.Value, is string) {
	switch {
	case d.IsMap():
		into := m.Mutable(d).Map()
		for entry := from.MapRange(); entry.Next(); {
			into.Set(protoreflect.ValueOf(entry.Key().Interface()).MapKey(), writeValue(into.NewValue, d.MapValue(),
				entry.Value(), is))
		}
	case d.IsList():
		into := m.Mutable(d).List()
		for i := range from.Len() {
			into.Append(writeValue(into.NewElement, d, from.Index(i), is))
		}
	default:
		m.Set(d, writeValue(func() protoreflect.Value { return m.NewField(d) }, d, from, is))
	}
}

// writeValue returns a value of a field; fresh makes an empty message for it.
func writeValue(
	fresh func() protoreflect.Value, d protoreflect.FieldDescriptor, from reflect.Value, is string,
) protoreflect.Value {
	if from.Type() == problemType {
		return protoreflect.ValueOfMessage(rpc.DetailOf(from.Interface().(*problem.Problem)).ProtoReflect())
	}
	from = reflect.Indirect(from)
	switch d.Kind() {
	case protoreflect.EnumKind:
		if from.Kind() == reflect.Bool {
			return protoreflect.ValueOfEnum(numberOf(d.Enum(), is))
		}
		return protoreflect.ValueOfEnum(numberOf(d.Enum(), from.String()))
	case protoreflect.MessageKind:
		return writeMessage(fresh, d, from)
	case protoreflect.Int32Kind:
		return as[int32](from)
	case protoreflect.Int64Kind:
		return as[int64](from)
	case protoreflect.Uint32Kind:
		return as[uint32](from)
	case protoreflect.Uint64Kind:
		return as[uint64](from)
	case protoreflect.DoubleKind:
		return as[float64](from)
	case protoreflect.BoolKind:
		return as[bool](from)
	}
	return as[string](from)
}

// as converts a value to the Go type of a kind of field.
func as[T any](v reflect.Value) protoreflect.Value {
	return protoreflect.ValueOf(v.Convert(reflect.TypeFor[T]()).Interface())
}

func writeMessage(
	fresh func() protoreflect.Value, d protoreflect.FieldDescriptor, from reflect.Value,
) protoreflect.Value {
	switch d.Message().FullName() {
	case "google.protobuf.Duration":
		return protoreflect.ValueOfMessage(durationpb.New(time.Duration(from.Int())).ProtoReflect())
	case "google.protobuf.Timestamp":
		return protoreflect.ValueOfMessage(timestamppb.New(from.Interface().(time.Time)).ProtoReflect())
	case "drover.v1.Value":
		return protoreflect.ValueOfMessage(valueOf(from.Interface()).ProtoReflect())
	}
	if kept := keptBy(from); kept != nil {
		return protoreflect.ValueOfMessage(kept.ProtoReflect())
	}
	v := fresh()
	writeStruct(v.Message(), from)
	return v
}

// prefixOf returns what the names of an enum's values begin with: "JOB_STATE_".
func prefixOf(e protoreflect.EnumDescriptor) string {
	return strings.TrimSuffix(string(e.Values().ByNumber(0).Name()), "UNSPECIFIED")
}

// wordOf returns the word for an enum's value in Go: "broken-by-user" for
// AGREEMENT_STATE_BROKEN_BY_USER, "" for one that is unspecified. An argument
// that is only sent has no suffix, and data are persistent by default.
func wordOf(e protoreflect.EnumDescriptor, n protoreflect.EnumNumber) string {
	value := e.Values().ByNumber(n)
	switch {
	case value == nil:
		return strconv.Itoa(int(n))
	case n == 0 && e.Name() == "DataMode":
		return "persistent"
	case n == 0:
		return ""
	}
	word := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(value.Name()), prefixOf(e))), "_", "-")
	if e.Name() == "ArgumentType" {
		word = strings.TrimSuffix(word, "-in")
	}
	return word
}

// numberOf is the inverse of wordOf; 0 for a word that the enum does not have.
func numberOf(e protoreflect.EnumDescriptor, word string) protoreflect.EnumNumber {
	name := prefixOf(e) + strings.ToUpper(strings.ReplaceAll(word, "-", "_"))
	for _, n := range []string{name, name + "_IN"} {
		if v := e.Values().ByName(protoreflect.Name(n)); v != nil {
			return v.Number()
		}
	}
	return 0
}
