package primes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// version is the version of state files.
const version = 1

// state is the progress of a count.
type state struct {
	Version int    `json:"version"`
	Below   int    `json:"below"`
	Next    int    `json:"next"` // all numbers below it are counted
	Count   int    `json:"count"`
	Sum     uint64 `json:"sum"`
	Largest int    `json:"largest"`
}

func (t *state) add(prime int) {
	t.Count++
	t.Sum += uint64(prime)
	t.Largest = prime
}

// stateFile is the file name of a state in its directory.
func stateFile(dir string) string { return filepath.Join(dir, "state") }

// load reads the state in a directory, or returns the initial state if there is none.
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

// parse refuses states of other counts and states that this program did not write.
func parse(text []byte, below int) (state, error) {
	var t state
	if err := json.Unmarshal(text, &t); err != nil {
		return state{}, fmt.Errorf("checkpoint: %w", err)
	}
	switch {
	case t.Version != version:
		return state{}, fmt.Errorf("checkpoint: version %d, accepted: %d", t.Version, version)
	case t.Below != below:
		return state{}, fmt.Errorf("checkpoint: of the primes below %d, accepted: below %d", t.Below, below)
	case t.Next < 0 || t.Next > below || t.Next%segment != 0 && t.Next != below || t.Count < 0 || t.Largest < 0 ||
		t.Largest >= below:
		return state{}, errors.New("checkpoint: inconsistent state")
	}
	return t, nil
}

// save replaces the state file atomically and durably.
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
