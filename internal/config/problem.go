package config

import "fmt"

// FieldError is one problem of a configuration.
type FieldError struct {
	Key      string // "gossip.seeds[0]"
	Value    string // the given value; can be empty
	Accepted string // the accepted values; can be empty
	Message  string // replaces Value and Accepted in the text if not empty
	Line     int    // in the file; 0: a default, or not from a file
}

// Error returns the line, the key, the value and the accepted values.
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
