package depot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of the records of data that are gone.
const (
	mostNotes   = 10_000
	longestNote = 30 * 24 * time.Hour
)

// notes are the fates of data, each in a file. They only improve messages, so damaged and lost ones
// are ignored.
type notes struct {
	dir   string
	byID  map[string]*GoneError
	order []*GoneError // the oldest first
}

// load reads the notes.
func (n *notes) load(now time.Time) error {
	n.byID = make(map[string]*GoneError)
	files, err := names(n.dir)
	if err != nil {
		return err
	}
	for _, name := range files {
		g := &GoneError{}
		if _, err := read(filepath.Join(n.dir, name), g); err != nil || g.ID+suffix != name || !IsID(g.ID) {
			if err := os.RemoveAll(filepath.Join(n.dir, name)); err != nil {
				return err
			}
			continue
		}
		n.byID[g.ID] = g
		n.order = append(n.order, g)
	}
	slices.SortFunc(n.order, func(a, b *GoneError) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return n.bound(now)
}

func (n *notes) find(id string) *GoneError { return n.byID[id] }

// add records a fate, in place of an earlier one of the same handle.
func (n *notes) add(g *GoneError) error {
	n.forget(g.ID)
	n.byID[g.ID] = g
	n.order = append(n.order, g)
	text, err := encode(g)
	if err == nil {
		err = os.WriteFile(filepath.Join(n.dir, g.ID+suffix), text, 0o600)
	}
	return errors.Join(err, n.bound(g.At))
}

// forget removes the note of a handle that is in use again.
func (n *notes) forget(id string) {
	g := n.byID[id]
	if g == nil {
		return
	}
	delete(n.byID, id)
	n.order = slices.DeleteFunc(n.order, func(o *GoneError) bool { return o == g })
	_ = os.Remove(filepath.Join(n.dir, id+suffix)) // a file that stays is overwritten or expires
}

// bound removes the oldest notes while they are too many or too old.
func (n *notes) bound(now time.Time) error {
	for len(n.order) > 0 && (len(n.order) > mostNotes || now.Sub(n.order[0].At) > longestNote) {
		g := n.order[0]
		n.order = n.order[1:]
		delete(n.byID, g.ID)
		if err := os.Remove(filepath.Join(n.dir, g.ID+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
