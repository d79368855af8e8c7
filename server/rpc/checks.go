package rpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// What others may put into a record that this server has to write again and again.
const (
	LongestWord = 255     // of an owner, a site, a round, bytes
	longestText = 4 << 10 // of a reason, bytes
	mostHistory = 64      // moves of a job that comes from elsewhere
	mostNames   = 1000    // licenses
	// largestPlain is the size of a message up to which nobody looks how large a
	// record it makes: a byte of it becomes at most six.
	largestPlain = store.LargestRecord / 8
)

// words checks texts that have names: pairs of a field and its content. Control
// characters would do something to the terminal of whoever reads them.
func words(most int, pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if n := len(pairs[i+1]); n > most {
			return &problem.Problem{
				Reason: problem.OutOfRange, Field: pairs[i], Accepted: fmt.Sprintf("at most %d bytes", most),
				Message: fmt.Sprintf("%s: %d bytes", pairs[i], n),
			}
		}
		if strings.ContainsFunc(pairs[i+1], unicode.IsControl) {
			return &problem.Problem{
				Reason: problem.BadValue, Field: pairs[i], Accepted: "text without control characters", Message: fmt.Sprintf("%s: %.70q", pairs[i], pairs[i+1]),
			}
		}
	}
	return nil
}

// checkSize refuses a request that the store could not hold: a message that is
// within its limit may be several times as large there.
func checkSize(m proto.Message, d *site.Dossier) error {
	if proto.Size(m) <= largestPlain {
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
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "")
}
