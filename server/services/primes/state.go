package primes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// version is that of the state files written here.
const version = 1

// state is how far the count has come.
type state struct {
	Version int    `json:"version"`
	Below   int    `json:"below"`
	Next    int    `json:"next"` // all below it have been looked at
	Count   int    `json:"count"`
	Sum     uint64 `json:"sum"`
	Largest int    `json:"largest"`
}

func (t *state) add(prime int) {
	t.Count++
	t.Sum += uint64(prime)
	t.Largest = prime
}

// stateFile is where a state lies in the directory for it.
func stateFile(dir string) string { return filepath.Join(dir, "state") }

// load reads the state that is left in a directory, or makes one that is at the
// beginning.
func load(dir string, below int) (state, error) {
	fresh := state{Version: version, Below: below}
	if dir == "" {
		return fresh, nil
	}
	text, err := os.ReadFile(stateFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return state{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	return parse(text, below)
}

// parse refuses what this program has not written about the same count.
func parse(text []byte, below int) (state, error) {
	var t state
	if err := json.Unmarshal(text, &t); err != nil {
		return state{}, fmt.Errorf("checkpoint: %w", err)
	}
	switch {
	case t.Version != version:
		return state{}, fmt.Errorf("checkpoint: version %d, accepted: %d", t.Version, version)
	case t.Below != below:
		return state{}, fmt.Errorf("checkpoint: of the primes below %d, wanted: those below %d", t.Below, below)
	case t.Next < 0 || t.Next > below || t.Next%segment != 0 && t.Next != below || t.Count < 0 || t.Largest < 0 || t.Largest >= below:
		return state{}, errors.New("checkpoint: not what this program writes")
	}
	return t, nil
}

// save writes a state so that it is there, after a crash of the host too, whole or as
// the one before.
func (t *state) save(dir string) (err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	f, err := os.CreateTemp(dir, ".state-*")
	if err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), stateFile(dir))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the checkpoint: %w", err), os.Remove(f.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
