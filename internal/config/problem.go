package config

import "fmt"

// FieldError is one problem of a configuration.
type FieldError struct {
	Key      string // "gossip.seeds[0]"
	Value    string // what was given; may be empty
	Accepted string // what would have been; may be empty
	Message  string // what is wrong, when Value and Accepted do not say it all
	Line     int    // in the file; 0: the value is the default, or came from no file
}

// Error names the line, the key, the value and what is accepted.
func (e *FieldError) Error() string {
	text := e.Message
	if text == "" {
		text = fmt.Sprintf("%q, accepted: %s", e.Value, e.Accepted)
	}
	if e.Key != "" {
		text = e.Key + ": " + text
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}
