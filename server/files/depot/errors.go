package depot

import (
	"errors"
	"fmt"
	"time"
)

// ErrUnknown says that nobody remembers such a handle.
var ErrUnknown = errors.New("no data of this handle are here")

// ConflictError refuses to change what a handle names.
type ConflictError struct{ ID string }

// Error names the handle.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("handle %s names other data, or the same under another mode or owner", e.ID)
}

// QuotaError is data for which no room can be made.
type QuotaError struct {
	Owner string // whose quota it is; "" for the site's, see All
	All   bool   // it is the quota of all owners together
	Need  int64  // bytes
	Quota int64  // bytes
	Fixed int64  // bytes of what cannot go
	// Handles is the most handles that there can be, if it is their number.
	Handles int
}

// Error has the figures.
func (e *QuotaError) Error() string {
	whose := "at this site"
	if !e.All {
		whose = fmt.Sprintf("of owner %q", e.Owner)
	}
	if e.Handles > 0 {
		return fmt.Sprintf("there are %d handles at this site, the most that there can be, and none may go", e.Handles)
	}
	return fmt.Sprintf("no room for %d bytes: data %s may take %d bytes, of which %d are taken by data that cannot go", e.Need, whose, e.Quota, e.Fixed)
}

// Fate is what became of data that were here.
type Fate string

// The fates.
const (
	Evicted Fate = "evicted" // to make room
	Removed Fate = "removed" // by somebody
	Spent   Fate = "spent"   // volatile, and used
	Lost    Fate = "lost"    // the content was gone when the depot was opened
)

// GoneError is about data that were here.
type GoneError struct {
	ID   string
	Fate Fate
	At   time.Time
	Job  string // of Spent: the job whose end it was
}

// Error says what became of them, and when.
func (e *GoneError) Error() string {
	at := e.At.UTC().Format(time.RFC3339)
	switch e.Fate {
	case Evicted:
		return fmt.Sprintf("data %s were evicted at %s to make room", e.ID, at)
	case Spent:
		return fmt.Sprintf("data %s were volatile, and went at %s when job %s had ended", e.ID, at, e.Job)
	case Lost:
		return fmt.Sprintf("data %s lost their content on the disk; found at %s", e.ID, at)
	}
	return fmt.Sprintf("data %s were removed at %s", e.ID, at)
}

// DamagedError is a file that is not what a depot wrote.
type DamagedError struct {
	Path string
	Err  error // what is wrong with it
}

// Error says what to do.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%v): the data that it names are unknown; remove it", e.Path, e.Err)
}

// Unwrap returns what is wrong.
func (e *DamagedError) Unwrap() error { return e.Err }
