package depot

import (
	"fmt"
	"os"
	"slices"
)

// Put stores content under a handle and returns the data as recorded. It is idempotent: equal data
// return the first answer. Errors are blobs.ErrUnknown if the content is missing, a *ConflictError,
// a *QuotaError, or the file system's. An error changes nothing, except that other data may have
// been evicted unless it is a *QuotaError.
func (d *Depot) Put(data Data) (Data, error) {
	if err := data.check(); err != nil {
		return Data{}, fmt.Errorf("put data: %w", err)
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	if known, err := d.Get(data.ID); err == nil {
		if !known.same(&data) {
			return Data{}, &ConflictError{ID: data.ID}
		}
		return known, nil
	}
	b, err := d.content.Pin(data.SHA256) // it cannot be evicted from now on
	if err == nil && b.Size != data.Size {
		_ = d.content.Unpin(data.SHA256)
		return Data{}, fmt.Errorf("put data: size of %d bytes, but the content has %d", data.Size, b.Size)
	}
	if err != nil {
		return Data{}, fmt.Errorf("put data: %w", err)
	}
	pinned := false
	defer func() {
		if !pinned {
			_ = d.content.Unpin(data.SHA256) // excess content is evicted with the next change
		}
	}()
	if err := d.makeRoom(&data); err != nil {
		return Data{}, err
	}
	data.Put = d.now()
	data.Used = data.Put
	data.Users = nil
	if err := d.save(&data); err != nil {
		return Data{}, err
	}
	d.stamp(&data)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enter(&data)
	d.gone.forget(data.ID)
	pinned = d.refs[data.SHA256] == 1 // the content keeps the pin of its first handle
	return data, nil
}

// save writes a record durably; d.writing is held.
func (d *Depot) save(data *Data) error {
	if err := write(d.record(data.ID), data); err != nil {
		return fmt.Errorf("write data: %w", err)
	}
	if err := syncDir(d.records()); err != nil {
		return fmt.Errorf("write data: %w", err)
	}
	return nil
}

// Use records that data are used now and returns them. If a job is given, its end removes volatile
// data. Errors are a *GoneError, ErrUnknown, or the file system's.
func (d *Depot) Use(id, job string) (Data, error) {
	data, err := d.Get(id)
	if err != nil {
		return Data{}, err
	}
	if job != "" && data.Mode == Volatile {
		if err := d.addUser(id, job); err != nil {
			return Data{}, err
		}
	}
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.known[id]
	if known == nil {
		if g := d.gone.find(id); g != nil {
			return Data{}, g
		}
		return Data{}, ErrUnknown
	}
	known.Used = now
	d.stamp(known)
	return *known, nil
}

// stamp records the last use of data on disk. If that fails, only the order of eviction is
// affected.
func (d *Depot) stamp(data *Data) { _ = os.Chtimes(d.record(data.ID), data.Used, data.Used) }

// addUser records a user of volatile data.
func (d *Depot) addUser(id, job string) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	data, err := d.Get(id)
	if err != nil {
		return err
	}
	if slices.Contains(data.Users, job) || len(data.Users) >= mostUsers {
		return nil
	}
	data.Users = append(slices.Clone(data.Users), job)
	return d.replace(&data)
}

// replace writes a changed record in place of the previous one; d.writing is held.
func (d *Depot) replace(data *Data) error {
	if err := d.save(data); err != nil {
		return err
	}
	d.stamp(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enter(data)
	return nil
}

// Users returns the jobs that use volatile data, ascending.
func (d *Depot) Users() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []string
	for job := range d.users {
		all = append(all, job)
	}
	slices.Sort(all)
	return all
}

// uses returns the volatile data that a job uses.
func (d *Depot) uses(job string) []*Data {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var out []*Data
	for _, id := range d.users[job] {
		data := *d.known[id]
		out = append(out, &data)
	}
	return out
}

// IsUser reports whether a job uses volatile data.
func (d *Depot) IsUser(job string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.users[job]) > 0
}

// Ended removes the volatile data that a job has used.
func (d *Depot) Ended(job string) error {
	if !d.IsUser(job) {
		return nil // the usual case
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	return d.drop(d.uses(job), Spent, job)
}

// Unused removes a job that was not accepted from the users of data.
func (d *Depot) Unused(job string) error {
	if !d.IsUser(job) {
		return nil
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	for _, data := range d.uses(job) {
		changed := *data
		changed.Users = slices.DeleteFunc(slices.Clone(data.Users), func(other string) bool { return other == job })
		if err := d.replace(&changed); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes data and returns them; false if they are not here.
func (d *Depot) Remove(id string) (Data, bool, error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	data, err := d.Get(id)
	if err != nil {
		return Data{}, false, nil // already removed
	}
	return data, true, d.drop([]*Data{&data}, Removed, "")
}

// Content opens the content of data and records their use.
func (d *Depot) Content(id string) (*os.File, Data, error) {
	data, err := d.Use(id, "")
	if err != nil {
		return nil, Data{}, err
	}
	f, _, err := d.content.File(data.SHA256)
	if err != nil {
		return nil, Data{}, fmt.Errorf("content of data %s: %w", id, err)
	}
	return f, data, nil
}
