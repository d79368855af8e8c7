package depot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// mostHandles bounds the handles of a depot, because empty content uses no space.
const mostHandles = 100_000

// Config bounds a depot. Sizes are bytes.
type Config struct {
	Dir        string // created if missing
	Quota      int64  // of all content; 0: none
	OwnerQuota int64  // of the content of one owner; 0: no separate bound
}

// Depot is the registry of one site. Its methods can be called concurrently. Call Attach before the
// first use.
type Depot struct {
	config  Config
	content *blobs.Store
	now     func() time.Time
	most    int // handles

	writing sync.Mutex // held during changes of the disk; locked before mu

	mu      sync.RWMutex
	known   map[string]*Data    // by handle; entries are replaced, not changed, except for Used
	order   []string            // handles, ascending
	refs    map[string]int      // handles by SHA-256
	used    int64               // bytes of all content
	users   map[string][]string // volatile data by the job that uses them
	gone    notes
	evicted int64 // since it was opened
}

// Open reads a directory. The list of errors has one for each damaged file, which is skipped.
func Open(c Config) (d *Depot, damaged []error, err error) {
	if c.Quota < 0 || c.OwnerQuota < 0 {
		return nil, nil, fmt.Errorf("depot: quotas of %d and %d bytes, accepted: at least 0", c.Quota, c.OwnerQuota)
	}
	d = &Depot{
		config: c, now: time.Now, most: mostHandles,
		known: make(map[string]*Data), refs: make(map[string]int), users: make(map[string][]string),
	}
	if damaged, err = d.load(); err != nil {
		return nil, nil, fmt.Errorf("depot: %w", err)
	}
	d.gone.dir = filepath.Join(c.Dir, "gone")
	if err := d.gone.load(d.now()); err != nil {
		return nil, nil, fmt.Errorf("depot: %w", err)
	}
	return d, damaged, nil
}

// load reads the records.
func (d *Depot) load() (damaged []error, err error) {
	files, err := names(d.records())
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		path := filepath.Join(d.records(), name)
		data, err := loadRecord(path, name)
		if err != nil {
			damaged = append(damaged, &DamagedError{Path: path, Err: err})
			continue
		}
		d.enter(data)
	}
	return damaged, nil
}

func loadRecord(path, name string) (*Data, error) {
	id, err := idOf(name)
	if err != nil {
		return nil, err
	}
	data := &Data{}
	info, err := read(path, data)
	if err != nil {
		return nil, err
	}
	if data.ID != id {
		return nil, fmt.Errorf("its handle is %.70q", data.ID)
	}
	data.Used = info.ModTime()
	return data, data.check()
}

// Contents returns the SHA-256 of all content that has handles, each once, ascending. It must be
// pinned when the content store is opened.
func (d *Depot) Contents() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []string
	for sha := range d.refs {
		all = append(all, sha)
	}
	slices.Sort(all)
	return all
}

// Attach connects a depot with the content store, which has the pins of Contents. It returns the
// data that are lost because their content is missing.
func (d *Depot) Attach(content *blobs.Store) (lost []Data, err error) {
	d.content = content
	d.writing.Lock()
	defer d.writing.Unlock()
	var gone []*Data
	for _, data := range d.all() {
		if b, err := content.Find(data.SHA256); err != nil || b.Size != data.Size {
			gone = append(gone, data)
			lost = append(lost, *data)
		}
	}
	return lost, d.drop(gone, Lost, "")
}

// all returns all data, in the order of their handles.
func (d *Depot) all() []*Data {
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := make([]*Data, len(d.order))
	for i, id := range d.order {
		data := *d.known[id]
		out[i] = &data
	}
	return out
}

// Get returns data. Errors are a *GoneError and ErrUnknown.
func (d *Depot) Get(id string) (Data, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if data := d.known[id]; data != nil {
		return *data, nil
	}
	if g := d.gone.find(id); g != nil {
		return Data{}, g
	}
	return Data{}, ErrUnknown
}

// List returns at most limit of the matching data after a handle, in the order of their handles,
// and whether there are more.
func (d *Depot) List(after string, limit int, match func(*Data) bool) (page []Data, more bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	i, found := slices.BinarySearch(d.order, after)
	if found {
		i++
	}
	for ; i < len(d.order); i++ {
		data := d.known[d.order[i]]
		if !match(data) {
			continue
		}
		if len(page) == limit {
			return page, true
		}
		page = append(page, *data)
	}
	return page, false
}

// Usage is how much of the quota is used.
type Usage struct {
	Handles           int
	Used              int64 // bytes
	Quota, OwnerQuota int64 // bytes
	Evicted           int64 // handles, since the depot was opened
}

// Usage returns the current usage.
func (d *Depot) Usage() Usage {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return Usage{
		Handles: len(d.order), Used: d.used, Quota: d.config.Quota, OwnerQuota: d.config.OwnerQuota,
		Evicted: d.evicted,
	}
}

// enter adds data that are durable, in place of the handle's previous data; d.mu is held, or the
// caller has exclusive access.
func (d *Depot) enter(data *Data) {
	d.leave(data.ID)
	d.known[data.ID] = data
	i, _ := slices.BinarySearch(d.order, data.ID)
	d.order = slices.Insert(d.order, i, data.ID)
	if d.refs[data.SHA256]++; d.refs[data.SHA256] == 1 {
		d.used += data.Size
	}
	for _, job := range data.Users {
		d.users[job] = append(d.users[job], data.ID)
	}
}

// leave undoes enter and reports whether no other handle names the content; d.mu is held.
func (d *Depot) leave(id string) (last bool) {
	data := d.known[id]
	if data == nil {
		return false
	}
	delete(d.known, id)
	i, _ := slices.BinarySearch(d.order, id)
	d.order = slices.Delete(d.order, i, i+1)
	for _, job := range data.Users {
		d.users[job] = slices.DeleteFunc(d.users[job], func(other string) bool { return other == id })
		if len(d.users[job]) == 0 {
			delete(d.users, job)
		}
	}
	if d.refs[data.SHA256]--; d.refs[data.SHA256] > 0 {
		return false
	}
	delete(d.refs, data.SHA256)
	d.used -= data.Size
	return true
}

// drop removes data, for a reason; d.writing is held.
func (d *Depot) drop(gone []*Data, fate Fate, job string) error {
	if len(gone) == 0 {
		return nil
	}
	var errs []error
	var free []string
	for _, data := range gone {
		note := &GoneError{ID: data.ID, Fate: fate, At: d.now(), Job: job}
		if err := os.Remove(d.record(data.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		d.mu.Lock()
		if d.leave(data.ID) {
			free = append(free, data.SHA256)
		}
		if fate == Evicted {
			d.evicted++
		}
		errs = append(errs, d.gone.add(note))
		d.mu.Unlock()
	}
	errs = append(errs, syncDir(d.records()))
	for _, sha := range free {
		errs = append(errs, d.content.Unpin(sha))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove data: %w", err)
	}
	return nil
}

func (d *Depot) records() string { return filepath.Join(d.config.Dir, "data") }

func (d *Depot) record(id string) string { return filepath.Join(d.records(), id+suffix) }
