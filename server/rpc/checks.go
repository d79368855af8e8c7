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

// smallMessage is the size of a message up to which its record is small enough for
// the store in any case: one byte of the message becomes at most six.
const smallMessage = store.LargestRecord / 8

// checkSize refuses a request that the store could not hold: a message that is
// within its limit may be several times as large there.
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
			Reason: problem.TooLarge, Field: "request", Accepted: fmt.Sprintf("at most %d bytes as it is stored", store.LargestRecord/2),
			Message: fmt.Sprintf("the request has %d bytes as it is stored", len(text)), Hint: "large texts had better be files",
		}
	}
	return nil
}

// withoutControls takes the control characters out of all texts of a message. Records of
// decisions and moves hold what others have said, on their way through more than one
// hand; who shows them shall not have to mind that, and a job is not refused for it.
func makePrintable(m proto.Message) {
	if m != nil && m.ProtoReflect().IsValid() {
		strip(m.ProtoReflect())
	}
}

func strip(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		text, message := f.Kind() == protoreflect.StringKind, f.Kind() == protoreflect.MessageKind
		switch {
		case f.IsMap(): // there are none in what this is for
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

// plainly returns a text with a space for each control character.
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

// shortly cuts what another server says to what a record has room for.
func truncate(text string) string {
	if len(text) <= rpc.MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:rpc.MaxText], "")
}
