package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// AboutName is the file that says what the rows of a folder have in common.
const AboutName = "about.json"

// MismatchError is a folder with rows that cannot be compared with those to come.
type MismatchError struct {
	Dir         string
	Differences []string
}

// Error names the differences and what to do.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("folder %s has other rows:\n  %s\n"+
		"accepted: another folder, the settings as they were, or remove "+
		"the folder to start again",
		e.Dir, strings.Join(e.Differences, "\n  "))
}

// Begin returns what the rows of a folder have in common: now, or what an earlier process
// wrote, completed from now by merge. merge returns the differences that forbid to add
// rows; the error is then a *MismatchError.
func Begin[A comparable](d *Dir, now A, merge func(was A) (A, []string)) (A, error) {
	text, err := d.Read(AboutName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return now, err
	}
	if err == nil {
		var was A
		if err := json.Unmarshal(text, &was); err != nil {
			return now, &MismatchError{d.path, []string{fmt.Sprintf("%s: %v", AboutName, err)}}
		}
		merged, differences := merge(was)
		if len(differences) > 0 {
			return now, &MismatchError{d.path, differences}
		}
		if now = merged; now == was {
			return now, nil
		}
	}
	if text, err = json.MarshalIndent(now, "", "  "); err != nil {
		return now, err
	}
	return now, d.Replace(AboutName, append(text, '\n'))
}
