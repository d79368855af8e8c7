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
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Text())
	}
	return e.Text()
}

// Text is the message without the line.
func (e *FieldError) Text() string {
	text := e.Message
	if text == "" {
		text = fmt.Sprintf("%q, accepted: %s", e.Value, e.Accepted)
	}
	if e.Key != "" {
		text = e.Key + ": " + text
	}
	return text
}
