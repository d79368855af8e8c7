package rpc

import (
	"strings"
	"unicode/utf8"
)

// What a refusal says at most, in bytes. A name that somebody sent is told back to
// him, and with gRPC all of it stands in a header: who sends a name of megabytes
// would get no refusal, but a broken call.
const (
	mostField = 512
	mostText  = 4096
)

// bounded returns a text that is valid and has most bytes or fewer; it says when it
// was cut.
func bounded(text string, most int) string {
	const cut = "..."
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= most {
		return text
	}
	end := most - len(cut)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}

// boundedError is an error whose text is bounded.
type boundedError struct{ error }

// Error is error's.
func (e boundedError) Error() string { return bounded(e.error.Error(), mostText) }

// Unwrap returns the error itself.
func (e boundedError) Unwrap() error { return e.error }
