package server

import (
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// withoutControls takes the control characters out of all texts of a message. Records of
// decisions and moves hold what others have said, on their way through more than one
// hand; who shows them shall not have to mind that, and a job is not refused for it.
func withoutControls(m proto.Message) {
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
				v.List().Set(i, protoreflect.ValueOfString(plainly(v.List().Get(i).String())))
			}
		case f.IsList() && message:
			for i := range v.List().Len() {
				strip(v.List().Get(i).Message())
			}
		case text:
			m.Set(f, protoreflect.ValueOfString(plainly(v.String())))
		case message && !f.IsList():
			strip(v.Message())
		}
		return true
	})
}

// plainly returns a text with a space for each control character.
func plainly(text string) string {
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
func shortly(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "")
}
