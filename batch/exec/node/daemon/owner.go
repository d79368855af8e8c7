package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// Owner is the server that a node serves.
type Owner struct {
	Site string // its name
	ID   string // of its data directory
}

// ownerName is the file that says who that is. An operator who removes it, while the
// daemon is down, gives the node to the next server that asks.
const ownerName = "owner.json"

type ownerFile struct {
	V    int    `json:"v"`
	Site string `json:"site"`
	ID   string `json:"id"`
}

// OwnedError is the answer to a server that a node does not serve.
type OwnedError struct {
	Site string // the one it serves
	Same bool   // of that name, with another data directory
}

// Error says whom the node serves.
func (e *OwnedError) Error() string {
	if e.Same {
		return fmt.Sprintf("this node serves another server of site %s, with another data directory", e.Site)
	}
	return fmt.Sprintf("this node serves site %s", e.Site)
}

// NameError is the answer to a server that takes a node for another one. What ran there
// it would look for here.
type NameError struct {
	Name string // of this one
}

// Error says what the node is called.
func (e *NameError) Error() string { return "this node is called " + e.Name }

// called refuses who takes this for another node; "" says nothing.
func (d *Daemon) called(name string) error {
	if name != "" && name != d.cfg.Name {
		return &NameError{d.cfg.Name}
	}
	return nil
}

// errUnclaimed is the answer to a server that has not claimed the node.
var errUnclaimed = errors.New("nobody has claimed this node yet: renew first")

// readOwner returns the zero Owner when nobody has claimed the node.
func readOwner(dir string) (Owner, error) {
	text, err := os.ReadFile(filepath.Join(dir, ownerName))
	if errors.Is(err, fs.ErrNotExist) {
		return Owner{}, nil
	}
	if err != nil {
		return Owner{}, fmt.Errorf("owner of this node: %w", err)
	}
	var f ownerFile
	if err := json.Unmarshal(text, &f); err != nil || f.V != 1 || f.Site == "" || f.ID == "" {
		return Owner{}, fmt.Errorf("owner of this node: %s is not what a daemon writes (%w)", ownerName, errors.Join(err, fs.ErrInvalid))
	}
	return Owner{f.Site, f.ID}, nil
}

// writeOwner is durable when it returns.
func writeOwner(dir string, o Owner) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the owner of this node: %w", err)
		}
	}()
	text, err := json.Marshal(ownerFile{V: 1, Site: o.Site, ID: o.ID})
	if err != nil {
		return err
	}
	return node.WriteFile(dir, ownerName, append(text, '\n'))
}

// claim makes a server the owner, unless somebody is.
func (d *Daemon) claim(o Owner) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == (Owner{}) {
		if d.cfg.Site != "" && o.Site != d.cfg.Site {
			return &OwnedError{Site: d.cfg.Site}
		}
		if err := writeOwner(d.cfg.Dir, o); err != nil {
			return err
		}
		d.owner = o
		d.log.Info("claimed", "site", o.Site)
	}
	return d.check(o)
}

// serves refuses everybody but the owner.
func (d *Daemon) serves(o Owner) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == (Owner{}) {
		return errUnclaimed
	}
	return d.check(o)
}

// check is for callers that hold mu.
func (d *Daemon) check(o Owner) error {
	if o != d.owner {
		return &OwnedError{Site: d.owner.Site, Same: o.Site == d.owner.Site}
	}
	return nil
}

// site returns whom it serves, or would.
func (d *Daemon) site() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner.Site != "" {
		return d.owner.Site
	}
	return d.cfg.Site
}
