package store

import (
	"errors"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/bbolt"
)

// Limits of one record. A UUID has 36 bytes; a cold record is a request, whose
// arguments the RPC face bounds far below this.
const (
	LargestID     = 255      // bytes of an ID or a key of meta; the smallest is 1
	LargestRecord = 16 << 20 // bytes
)

// Config says which file.
type Config struct {
	Path   string // made if it is not there; its directory has to be
	Site   string // of a file made new; else it has to be the file's
	Logger hclog.Logger
}

// Validate returns all problems at once.
func (c Config) Validate() error {
	var problems []error
	if c.Path == "" {
		problems = append(problems, errors.New("path of the store is empty"))
	}
	if c.Site == "" {
		problems = append(problems, errors.New("site of the store is empty"))
	}
	return errors.Join(problems...)
}

const (
	// pageSize is the same everywhere, so that a file costs the same on a machine
	// with larger pages. Commits rewrite whole pages: larger ones write more.
	pageSize = 4096
	// mapSize is address space, not memory, and not file: it is taken at once,
	// because a commit that has to grow the mapping waits for all readers, and
	// cannot go on if it fails.
	mapSize = 1 << 30
	// allocSize is by how much the file grows. Growing costs a sync. What it adds
	// is a hole: it takes no room on the disk before it is written.
	allocSize = 16 << 20
	// fill is how full pages are left when they are split. IDs are UUIDv7 and come
	// in order, so that new records go at the end and half-empty pages before it
	// would stay so. The tenth left is for records that grow a little.
	fill = 0.9
)

// options are bbolt's, apart from the file.
//
// The list of free pages is written with each commit. That is 8 bytes for each:
// after nine tenths of 100,000 jobs went it is two thirds of what a commit of 32
// records writes. Without it Open walks the file a second time to find them,
// which doubles its time, and so does every commit that fails, where a page that
// cannot be read would end the process (bbolt walks in a goroutine of its own).
// As a hash map the list finds room at once; the default, an array, is searched
// from its beginning.
func options() *bbolt.Options {
	return &bbolt.Options{
		PageSize:        pageSize,
		InitialMmapSize: mapSize,
		FreelistType:    bbolt.FreelistMapType,
	}
}
