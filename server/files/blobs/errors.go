package blobs

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknown reports that the store does not have the content.
	ErrUnknown = errors.New("content is not in the store")
	// ErrArriving refuses to resume content that another sender is sending.
	ErrArriving = errors.New("another sender is sending the same content")
	// ErrTaken ends the upload of a sender that was silent for too long and that another sender has
	// replaced.
	ErrTaken = errors.New("another sender has resumed the same content")
)

// SizeError reports content that is larger than the limit.
type SizeError struct{ Limit int64 }

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("content is over the limit of %d bytes", e.Limit)
}

// MismatchError reports content that does not match its announced hash or size.
type MismatchError struct {
	Field     string // "sha256" or "size_bytes"
	Got, Want string
}

// Error names both.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s of the content is %s, said to be %s", e.Field, e.Got, e.Want)
}

// OffsetError reports an upload that begins behind what has arrived.
type OffsetError struct{ Offset, Have int64 }

// Error names both.
func (e *OffsetError) Error() string {
	return fmt.Sprintf("the upload continues at byte %d, but only %d bytes have arrived", e.Offset, e.Have)
}

// PartError reports the announced end of a part of some content. The part is kept, and the rest may
// follow.
type PartError struct{ Have int64 }

// Error returns how much has arrived.
func (e *PartError) Error() string {
	return fmt.Sprintf("%d bytes of the content have arrived", e.Have)
}
