package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

// placesName is the file, in the host's directory, that says where control groups were
// made: a process that is started by hand again is as a rule in another group, and is
// to find its predecessor's all the same.
const placesName = "groups.json"

type placesFile struct {
	V      int      `json:"v"`
	Places []string `json:"places"`
}

// detect finds out what the host offers, and where predecessors have made groups.
func (h *Host) detect() (err error) {
	cfg := h.cfg.Groups
	if cfg.Former, err = readPlaces(h.cfg.Dir); err != nil {
		return err
	}
	if h.groups, err = cgroup.Detect(cfg); err != nil {
		return err
	}
	places := h.groups.Places()
	for _, dir := range cfg.Former {
		// One that this process may not use may be of use to the next.
		if _, err := os.Stat(dir); err == nil && !slices.Contains(places, dir) {
			places = append(places, dir)
		}
	}
	if !slices.Equal(places, cfg.Former) {
		return writePlaces(h.cfg.Dir, places)
	}
	return nil
}

func readPlaces(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, placesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("where control groups were: %w", err)
	}
	var f placesFile
	if err := json.Unmarshal(text, &f); err != nil || f.V != 1 {
		return nil, fmt.Errorf("where control groups were: %s is not what a node writes (%w)", placesName, errors.Join(err, fs.ErrInvalid))
	}
	return f.Places, nil
}

// writePlaces is durable when it returns: the groups are made after it.
func writePlaces(dir string, places []string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("where control groups are: %w", err)
		}
	}()
	text, err := json.Marshal(placesFile{V: 1, Places: places})
	if err != nil {
		return err
	}
	return WriteFile(dir, placesName, append(text, '\n'))
}
