package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// GroupFile is the file of a control group that lists its processes, and takes them.
const GroupFile = "cgroup.procs"

// ErrGroup is wrapped by the error of a process that cannot enter its groups.
var ErrGroup = errors.New("control group")

// EnterGroups puts a process into control groups by their files. Its error names no
// path of this host.
func EnterGroups(groups []string, pid int) error {
	for _, file := range groups {
		if err := put(file, strconv.Itoa(pid)); err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return fmt.Errorf("%w: %w", ErrGroup, err)
		}
	}
	return nil
}

// put writes into a file of the kernel's, which is never made.
func put(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// StrikeGroups kills whoever is in the groups, once, and reports whether anybody was.
// The group itself is its owner's, and stays.
func StrikeGroups(groups []string) (found bool) {
	for _, file := range groups {
		dir := filepath.Dir(file)
		if len(inGroup(file)) == 0 {
			continue
		}
		found = true
		if put(filepath.Join(dir, "cgroup.kill"), "1") == nil {
			continue
		}
		// Frozen they cannot outrun us; the signal reaches them when they thaw. A
		// hierarchy without a freezer has no such file.
		_ = put(filepath.Join(dir, "freezer.state"), "FROZEN")
		for _, pid := range inGroup(file) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error: it has gone
		}
		_ = put(filepath.Join(dir, "freezer.state"), "THAWED")
	}
	return found
}

// ClearGroups kills until nobody is in the groups, and reports whether somebody is
// left after a long wait.
func ClearGroups(groups []string) (left bool) {
	deadline := time.Now().Add(GoneWait)
	for pause := time.Millisecond; StrikeGroups(groups); pause = min(2*pause, 100*time.Millisecond) {
		if time.Now().After(deadline) {
			return true
		}
		time.Sleep(pause)
	}
	return false
}

// inGroup returns the processes of a group; none where it cannot be read, as when
// it is gone.
func inGroup(file string) (pids []int) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		// 0 is a process that this one's namespace cannot name, and to kill(2) is
		// this one's group.
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
