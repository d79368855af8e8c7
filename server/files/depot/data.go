package depot

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// Mode selects how long data are kept.
type Mode string

// The modes.
const (
	Volatile   Mode = "volatile"   // until the first job that uses them ends
	Sticky     Mode = "sticky"     // until they are removed; never copied to other sites
	Persistent Mode = "persistent" // until they are removed or evicted
)

// Data are content under a handle.
type Data struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`         // of the content
	Size   int64  `json:"size"`           // of the content, bytes
	Name   string `json:"name,omitempty"` // base name that programs see
	// Element is the type of an array's elements, "" for a file. Dimensions are its length, or its
	// rows and columns.
	Element    string  `json:"element,omitempty"`
	Dimensions []int64 `json:"dimensions,omitempty"`
	Mode       Mode    `json:"mode"`
	Owner      string  `json:"owner,omitempty"`
	Copy       bool    `json:"copy,omitempty"` // copied from another site
	Job        string  `json:"job,omitempty"`  // that produced them; "" for none

	// Users are the jobs that use volatile data and have not ended.
	Users []string  `json:"users,omitempty"`
	Put   time.Time `json:"put"`
	Used  time.Time `json:"-"` // last use; the file's modification time
}

// mostUsers bounds the recorded users of volatile data: the end of one of them is enough.
const mostUsers = 16

var uuidV7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// IsID reports whether s has the form of a handle: a lower-case UUIDv7.
func IsID(s string) bool { return uuidV7.MatchString(s) }

// check returns what is invalid in a record.
func (d *Data) check() error {
	switch {
	case !IsID(d.ID):
		return fmt.Errorf("handle %.70q", d.ID)
	case !blobs.IsSHA256(d.SHA256):
		return fmt.Errorf("sha256 %.70q", d.SHA256)
	case d.Size < 0:
		return fmt.Errorf("size of %d bytes", d.Size)
	case d.rank() == 0:
		return fmt.Errorf("mode %.70q", d.Mode)
	case slices.ContainsFunc(d.Dimensions, func(n int64) bool { return n < 0 }):
		return fmt.Errorf("dimensions %v", d.Dimensions)
	case d.Copy && d.Mode == Sticky:
		return errors.New("a copy of sticky data")
	}
	return nil
}

// The ranks of data in eviction: a lower rank is evicted earlier.
const (
	rankVolatile = iota + 1
	rankCopy
	rankPersistent
	rankSticky
)

func (d *Data) rank() int {
	switch {
	case d.Mode == Volatile:
		return rankVolatile
	case d.Mode == Persistent && d.Copy:
		return rankCopy
	case d.Mode == Persistent:
		return rankPersistent
	case d.Mode == Sticky:
		return rankSticky
	}
	return 0
}

// same reports whether two records are equal, except for the fields that the site sets and the name
// that programs see.
func (d *Data) same(o *Data) bool {
	return d.SHA256 == o.SHA256 && d.Size == o.Size && d.Element == o.Element &&
		slices.Equal(d.Dimensions, o.Dimensions) && d.Mode == o.Mode && d.Owner == o.Owner
}
