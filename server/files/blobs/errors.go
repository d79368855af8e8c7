package blobs

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknown says that a store does not have the content.
	ErrUnknown = errors.New("content is not in the store")
	// ErrArriving refuses to go on with content that somebody else sends just now.
	ErrArriving = errors.New("somebody else sends the same content")
	// ErrTaken ends the upload of a sender that was silent for too long, and whose
	// place somebody else has taken.
	ErrTaken = errors.New("somebody else goes on with the same content")
)

// SizeError is content that is larger than the limit.
type SizeError struct{ Limit int64 }

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("content is over the limit of %d bytes", e.Limit)
}

// MismatchError is content that is not what was said of it.
type MismatchError struct {
	Field     string // "sha256" or "size_bytes"
	Got, Want string
}

// Error names both.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s of the content is %s, said to be %s", e.Field, e.Got, e.Want)
}

// OffsetError is a sender who would go on behind what has arrived.
type OffsetError struct{ Offset, Have int64 }

// Error names both.
func (e *OffsetError) Error() string {
	return fmt.Sprintf("the content goes on at byte %d, but only %d bytes of it have arrived", e.Offset, e.Have)
}

// PartError is content of which a part has come to its end, as its sender had said.
// It is kept, and the rest may follow.
type PartError struct{ Have int64 }

// Error says how much there is.
func (e *PartError) Error() string {
	return fmt.Sprintf("%d bytes of the content have arrived", e.Have)
}
