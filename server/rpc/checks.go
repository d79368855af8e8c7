package rpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// smallMessage is the size of a message up to which its record always fits into the store: one byte
// of the message becomes at most six.
const smallMessage = store.LargestRecord / 8

// checkSize refuses a request that the store cannot hold: a valid message can be several times as
// large there.
func checkSize(m proto.Message, d *site.Dossier) error {
	if proto.Size(m) <= smallMessage {
		return nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("size of a request: %w", err)
	}
	if len(text) > store.LargestRecord/2 {
		return &problem.Problem{
			Reason: problem.TooLarge, Field: "request", Accepted: fmt.Sprintf("at most %d bytes as it is stored",
				store.LargestRecord/2),
			Message: fmt.Sprintf("the request has %d bytes as it is stored", len(text)),
			Hint:    "pass large texts as files",
		}
	}
	return nil
}

// makePrintable replaces the control characters in all texts of a message. Records of decisions and
// moves hold texts of other servers. Readers need not handle control characters, and no job is
// refused for them.
func makePrintable(m proto.Message) {
	if m != nil && m.ProtoReflect().IsValid() {
		strip(m.ProtoReflect())
	}
}

func strip(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		text, message := f.Kind() == protoreflect.StringKind, f.Kind() == protoreflect.MessageKind
		switch {
		case f.IsMap(): // these messages have no maps
		case f.IsList() && text:
			for i := range v.List().Len() {
				v.List().Set(i, protoreflect.ValueOfString(printable(v.List().Get(i).String())))
			}
		case f.IsList() && message:
			for i := range v.List().Len() {
				strip(v.List().Get(i).Message())
			}
		case text:
			m.Set(f, protoreflect.ValueOfString(printable(v.String())))
		case message && !f.IsList():
			strip(v.Message())
		}
		return true
	})
}

// printable returns a text with a space in place of each control character.
func printable(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// truncate cuts a text of another server to the size that a record has room for.
func truncate(text string) string {
	if len(text) <= rpc.MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:rpc.MaxText], "")
}
