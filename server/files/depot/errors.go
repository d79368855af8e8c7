package depot

import (
	"errors"
	"fmt"
	"time"
)

// ErrUnknown reports a handle that the depot has no record of.
var ErrUnknown = errors.New("no data of this handle are here")

// ConflictError reports an attempt to change what a handle names.
type ConflictError struct{ ID string }

// Error names the handle.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("handle %s names other data, or the same under another mode or owner", e.ID)
}

// QuotaError reports data that do not fit into a quota.
type QuotaError struct {
	Owner string // of the quota; "" for the site's, see All
	All   bool   // the quota of all owners together
	Need  int64  // bytes
	Quota int64  // bytes
	Fixed int64  // bytes that cannot be evicted
	// Handles is the limit of the number of handles, if that is exceeded.
	Handles int
}

// Error returns the figures.
func (e *QuotaError) Error() string {
	scope := "at this site"
	if !e.All {
		scope = fmt.Sprintf("of owner %q", e.Owner)
	}
	if e.Handles > 0 {
		return fmt.Sprintf("there are %d handles at this site, the most that there can be, and none may go", e.Handles)
	}
	return fmt.Sprintf("no room for %d bytes: data %s may take %d bytes, "+
		"of which %d are used by data that cannot be evicted", e.Need, scope, e.Quota, e.Fixed)
}

// Fate is the reason why data are gone.
type Fate string

// The fates.
const (
	Evicted Fate = "evicted" // to free space
	Removed Fate = "removed" // on request
	Spent   Fate = "spent"   // volatile, and their first user ended
	Lost    Fate = "lost"    // the content was missing when the depot was opened
)

// GoneError reports data that were here.
type GoneError struct {
	ID   string
	Fate Fate
	At   time.Time
	Job  string // for Spent: the job that ended
}

// Error returns what became of the data, and when.
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

// DamagedError reports a damaged file.
type DamagedError struct {
	Path string
	Err  error // what is wrong with it
}

// Error returns what the operator can do.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%v): the data that it names are unknown; remove it", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }
