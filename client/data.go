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

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// DataMode is how long data stays at a site.
type DataMode string

// The modes. GridRPC calls them GRPC_VOLATILE, GRPC_STICKY and GRPC_PERSISTENT.
const (
	// DataVolatile data is removed when the first job that used it has ended.
	DataVolatile DataMode = "volatile"
	// DataSticky data stays until it is removed, at one site only: a job that uses it
	// runs there.
	DataSticky DataMode = "sticky"
	// DataPersistent data stays until it is removed, or evicted as the least recently
	// used when the site needs space. It is copied to other sites for jobs that use it.
	DataPersistent DataMode = "persistent"
)

// DataModes are all modes.
var DataModes = []DataMode{DataVolatile, DataSticky, DataPersistent}

// ParseDataMode reads a mode. An empty text is DataPersistent.
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
	return "", &problem.Problem{
		Reason: problem.BadValue, Field: "mode", Accepted: accepted, Message: fmt.Sprintf("mode %q, accepted: %s", text,
			accepted),
	}
}

// Data is content that stays at a site under a handle: requests use it without sending
// it again. It never changes. Times are on the clock of the site.
type Data struct {
	Message    rpc.Message // that it was decoded from
	ID         string      `proto:"id"`                 // the handle: a lower-case UUIDv7
	Name       string      `proto:"content.name"`       // base name that a program sees; may be empty
	Size       int64       `proto:"content.size_bytes"` // bytes
	SHA256     string      `proto:"content.sha256"`     // hexadecimal; empty if only the ID is known
	Element    ElementType `proto:"element"`            // of a vector or matrix; empty for a file
	Dimensions []int64     `proto:"dimensions"`
	Mode       DataMode    `proto:"mode"`
	Owner      string      `proto:"owner"`
	Site       string      `proto:"site"`
	Copy       bool        `proto:"copy"` // copied there for a job
	Put        time.Time   `proto:"put_at"`
	Used       time.Time   `proto:"used_at"` // last use or download
	Job        string      `proto:"job_id"`  // that wrote it; may be empty

	address string // URL of the site's server, if an agent reported it
}

// MarshalJSON returns the JSON of a drover.v1.Data.
func (d Data) MarshalJSON() ([]byte, error) { return rpc.JSON("Data", d) }

// known reports whether more than the handle is known.
func (d *Data) known() bool { return d.SHA256 != "" }

// DataContent is content for PutData.
type DataContent struct {
	file *file
	err  error // why it cannot be sent
}

// DataFile is the content of the file at path, which must not change until PutData
// returns.
func DataFile(path string) DataContent { return DataContent{file: fileAt(path)} }

// DataBytes is this content.
func DataBytes(content []byte) DataContent {
	return DataContent{file: &file{open: func() (io.ReadCloser, error) { return held{bytes.NewReader(content)}, nil }}}
}

// DataFrom is content that open reads from its beginning, the same at every call. The
// reader should be an io.Seeker too.
func DataFrom(open func() (io.ReadCloser, error)) DataContent {
	return DataContent{file: &file{open: open}}
}

// DataBlock is a vector or a matrix, such as one of OpenNPY.
func DataBlock(b Block) DataContent {
	if err := b.check(); err != nil {
		return DataContent{err: err}
	}
	return DataContent{file: b.file()}
}

// DataVector is a vector in memory, which must not change until PutData returns.
func DataVector[T Element](v []T) DataContent { return DataContent{file: vectorBlock(v).file()} }

// DataMatrix is a matrix in memory, which must not change until PutData returns.
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
	ID    string // prefix of a handle
	Owner string
	Mode  DataMode
	Name  string
	Site  string
}

// DataList is a list of data.
type DataList struct {
	Data    []Data        `proto:"data"`    // by site, then by handle; FindData: originals before copies
	Missing []MissingSite `proto:"missing"` // the sites that did not answer
}

// MarshalJSON returns the JSON of a drover.v1.AgentServiceListDataResponse.
func (l DataList) MarshalJSON() ([]byte, error) { return rpc.JSON("AgentServiceListDataResponse", l) }

// located mirrors a FindDataResponse.
type located struct {
	Data []struct {
		Data    Data   `proto:"data"`
		Address string `proto:"address"`
	} `proto:"data"`
	Missing []MissingSite `proto:"missing"`
}

// ListData lists data.
func (c *Client) ListData(ctx context.Context, f DataFilter) (*DataList, error) {
	filter, err := terms("id", f.ID, "owner", f.Owner, "mode", string(f.Mode), "name", f.Name, "site", f.Site)
	if err != nil {
		return nil, err
	}
	return pages(ctx, c, func(ctx context.Context, agent, token string) (rpc.Message, error) {
		return c.conn.ListData(ctx, agent, filter, token)
	}, func(all, page *DataList) {
		all.Data = append(all.Data, page.Data...)
		all.Missing = merged(all.Missing, page.Missing)
	})
}

// FindData returns the sites that have data, at least one. If there is none, the error
// says whether any site had it.
func (c *Client) FindData(ctx context.Context, id string) (*DataList, error) {
	if err := checkHandle("data_id", id); err != nil {
		return nil, err
	}
	found, err := retry(ctx, c, func(ctx context.Context, agent string) (*located, error) {
		return as[located](c.conn.FindData(ctx, agent, id))
	})
	if err != nil {
		return nil, err
	}
	list := &DataList{Missing: merged(nil, found.Missing)}
	for _, at := range found.Data {
		at.Data.address = at.Address
		list.Data = append(list.Data, at.Data)
	}
	return list, nil
}

// RemoveData removes data from all sites, and returns the sites that had it. Accepted
// jobs keep what they use. It fails if a site does not answer, and can be repeated.
func (c *Client) RemoveData(ctx context.Context, id string) (sites []string, err error) {
	if err := checkHandle("data_id", id); err != nil {
		return nil, err
	}
	return retry(ctx, c, func(ctx context.Context, agent string) ([]string, error) {
		return c.conn.RemoveData(ctx, agent, id)
	})
}

// checkHandle refuses what cannot be a handle.
func checkHandle(field, id string) error {
	if made, err := uuid.Parse(id); err != nil || made.String() != id || made.Version() != 7 {
		const accepted = "the handle of data, a lower-case UUIDv7"
		return &problem.Problem{Reason: problem.BadValue, Field: field, Accepted: accepted, Message: strconv.Quote(id)}
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
