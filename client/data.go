package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// DataMode is how long data stay at a site.
type DataMode string

// The modes. Of GridRPC's own, GRPC_VOLATILE, GRPC_STICKY and GRPC_PERSISTENT.
const (
	// DataVolatile data go when the first job that has used them has ended.
	DataVolatile DataMode = "volatile"
	// DataSticky data stay until they are removed, at one site alone: a job that uses
	// them runs there and nowhere else.
	DataSticky DataMode = "sticky"
	// DataPersistent data stay until they are removed, or their site needs the room
	// and nobody has used them for longest. Where a job wants them there is a copy.
	DataPersistent DataMode = "persistent"
)

// DataModes are all modes.
var DataModes = []DataMode{DataVolatile, DataSticky, DataPersistent}

// ParseDataMode reads a mode; an empty text is DataPersistent.
func ParseDataMode(text string) (DataMode, error) {
	if text == "" {
		return DataPersistent, nil
	}
	var names []string
	for _, m := range DataModes {
		if text == string(m) {
			return m, nil
		}
		names = append(names, string(m))
	}
	accepted := strings.Join(names, ", ")
	return "", &Error{
		Reason: ReasonBadValue, Field: "mode", Accepted: accepted, Message: fmt.Sprintf("mode %q, accepted: %s", text, accepted),
	}
}

// Data are content that stays at a site under a handle, so that requests can use it
// without its being sent again. They never change. Times are on the clock of the site.
type Data struct {
	ID         string      // the handle: a lower-case UUIDv7
	Name       string      // base name that a program sees; may be empty
	Size       int64       // bytes
	SHA256     string      // hexadecimal; empty of Data of which only the ID is known
	Element    ElementType // of a vector or matrix; empty of a file
	Dimensions []int64
	Mode       DataMode
	Owner      string
	Site       string
	Copy       bool // brought there for a job, from where they had been put
	Put        time.Time
	Used       time.Time // or fetched, for the last time
	Job        string    // that they came from; may be empty

	address string // URL of the site's server, where an agent has told it
}

// known says whether more than the handle is known.
func (d *Data) known() bool { return d.SHA256 != "" }

// DataContent is what PutData has stay at a site.
type DataContent struct {
	file *file
	err  error // what is wrong with it
}

// DataFile is the content of the file at path, which must not change until it is put.
func DataFile(path string) DataContent { return DataContent{file: fileAt(path)} }

// DataBytes is this content.
func DataBytes(content []byte) DataContent {
	return DataContent{file: &file{open: func() (io.ReadCloser, error) { return held{bytes.NewReader(content)}, nil }}}
}

// DataFrom is content that open reads from its beginning, as often as it is called,
// and always the same. What it returns had better be an io.Seeker, too.
func DataFrom(open func() (io.ReadCloser, error)) DataContent {
	return DataContent{file: &file{open: open}}
}

// DataBlock is a vector or a matrix, as OpenNPY finds one.
func DataBlock(b Block) DataContent {
	if err := b.check(); err != nil {
		return DataContent{err: err}
	}
	return DataContent{file: b.file()}
}

// DataVector is a vector in memory, which must not change until it is put.
func DataVector[T Element](v []T) DataContent { return DataContent{file: vectorBlock(v).file()} }

// DataMatrix is a matrix in memory, which must not change until it is put.
func DataMatrix[T Element](m *Dense[T]) DataContent {
	b, err := m.block()
	if err != nil {
		return DataContent{err: err}
	}
	return DataContent{file: b.file()}
}

// held is content in memory.
type held struct{ *bytes.Reader }

func (held) Close() error { return nil }

// DataFilter selects data. The zero DataFilter selects all.
type DataFilter struct {
	ID    string // beginning of a handle
	Owner string
	Mode  DataMode
	Name  string
	Site  string
}

// DataList is what a grid has of data.
type DataList struct {
	Data    []Data    // site by site, in the order of their handles; of FindData those that were put before copies
	Missing []Missing // the sites that did not answer
}

// ListData lists data.
func (c *Client) ListData(ctx context.Context, f DataFilter) (*DataList, error) {
	filter, err := terms("id", f.ID, "owner", f.Owner, "mode", string(f.Mode), "name", f.Name, "site", f.Site)
	if err != nil {
		return nil, err
	}
	missing := make(map[string]Missing)
	data, err := pages(ctx, c, func(ctx context.Context, agent, token string) ([]Data, string, error) {
		if token == "" {
			clear(missing)
		}
		return c.face.listData(ctx, agent, filter, token, missing)
	})
	if err != nil {
		return nil, err
	}
	return &DataList{Data: data, Missing: inOrder(missing)}, nil
}

// FindData tells where data are: at one site at least, or the error says that nobody
// has them, or has them any more.
func (c *Client) FindData(ctx context.Context, id string) (*DataList, error) {
	if err := checkHandle("data_id", id); err != nil {
		return nil, err
	}
	return insist(ctx, c, func(ctx context.Context, agent string) (*DataList, error) {
		return c.face.findData(ctx, agent, id)
	})
}

// RemoveData removes data at all sites that have them, and returns those. Jobs that
// have been accepted keep what they use. It fails when a site does not answer, and may
// be called again.
func (c *Client) RemoveData(ctx context.Context, id string) (sites []string, err error) {
	if err := checkHandle("data_id", id); err != nil {
		return nil, err
	}
	return insist(ctx, c, func(ctx context.Context, agent string) ([]string, error) {
		return c.face.removeData(ctx, agent, id)
	})
}

// checkHandle refuses what cannot be a handle.
func checkHandle(field, id string) error {
	if made, err := uuid.Parse(id); err != nil || made.String() != id || made.Version() != 7 {
		const accepted = "the handle of data, a lower-case UUIDv7"
		return &Error{Reason: ReasonBadValue, Field: field, Accepted: accepted, Message: strconv.Quote(id)}
	}
	return nil
}

// newHandle makes a handle.
func newHandle() (string, error) {
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a handle of data: %w", err)
	}
	return made.String(), nil
}

// DataUsage is how much of a site's room for data that stay is taken. Of a site that
// keeps none, and of one that is older than this client, it is zero.
type DataUsage struct {
	Handles    int
	Used       int64 // bytes; the same content counts once
	Quota      int64 // the most they may take, bytes
	OwnerQuota int64 // of one owner, bytes; 0 for no bound of his own
	Evicted    int64 // handles that had to make room since the server started
}

func (u DataUsage) free() int64 { return max(u.Quota-u.Used, 0) }
