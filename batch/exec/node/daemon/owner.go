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

// checkName refuses a server that knows this node under another name; "" is not checked.
func (d *Daemon) checkName(name string) error {
	if name != "" && name != d.cfg.Name {
		return &node.NameError{Name: d.cfg.Name}
	}
	return nil
}

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
			return &node.OwnedError{Site: d.cfg.Site}
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
		return node.ErrUnclaimed
	}
	return d.check(o)
}

// check is for callers that hold mu.
func (d *Daemon) check(o Owner) error {
	if o != d.owner {
		return &node.OwnedError{Site: d.owner.Site, Same: o.Site == d.owner.Site}
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
