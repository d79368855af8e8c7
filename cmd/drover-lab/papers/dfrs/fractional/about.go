package fractional

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// about is what rows must have in common to be compared.
type about struct {
	Schema  string  `json:"schema"`
	Penalty float64 `json:"penalty_seconds"`
	HPC2N   string  `json:"hpc2n_sha256,omitempty"` // "" before a set of it was run
	By      string  `json:"begun_by"`               // a version of drover
}

// MismatchError is a folder with rows that are not comparable with those to come.
type MismatchError struct {
	Dir         string
	Differences []string
}

// Error says what differs and what to do.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("folder %s has other rows:\n  %s\naccepted: another folder, the settings as they were, or remove the folder to begin anew",
		e.Dir, strings.Join(e.Differences, "\n  "))
}

// agree compares with what the folder says, and writes what it did not say yet.
func (f *Folder) agree(now about) error {
	f.by = now.By
	text, err := f.dir.Read(aboutName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		var was about
		if err := json.Unmarshal(text, &was); err != nil {
			return &MismatchError{f.dir.Path(), []string{fmt.Sprintf("%s: %v", aboutName, err)}}
		}
		if d := now.differences(&was); len(d) > 0 {
			return &MismatchError{f.dir.Path(), d}
		}
		if now.HPC2N == "" {
			now.HPC2N = was.HPC2N
		}
		f.by, now.By = was.By, was.By
		if now == was {
			return nil
		}
	}
	text, err = json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return f.dir.Replace(aboutName, append(text, '\n'))
}

func (a *about) differences(was *about) []string {
	var all []string
	differ := func(what, theirs, ours string) {
		if theirs != ours {
			all = append(all, fmt.Sprintf("%s: %s in the folder, %s now", what, theirs, ours))
		}
	}
	seconds := func(s float64) string { return strconv.FormatFloat(s, 'g', -1, 64) + " s" }
	differ("schema", was.Schema, a.Schema)
	differ("penalty", seconds(was.Penalty), seconds(a.Penalty))
	if was.HPC2N != "" && a.HPC2N != "" {
		differ("SHA-256 of "+HPC2NFile, was.HPC2N, a.HPC2N)
	}
	return all
}
