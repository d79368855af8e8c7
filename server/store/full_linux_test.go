package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	children["full disk"] = onFullDisk
	children["file limit"] = overFileLimit
}

const diskSize = 8 << 20 // bytes of the small disk

// The child mounts a small disk in a private mount namespace, which ends with the child.
// Without root that needs a user namespace.
func TestAFullDiskRefusesCommitsAndLosesNothing(t *testing.T) {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	runChild(t, "full disk", t.TempDir(), attr)
}

func TestAFileAtItsSizeLimitRefusesCommitsAndLosesNothing(t *testing.T) {
	runChild(t, "file limit", newPath(t), nil)
}

func runChild(t *testing.T, name, path string, attr *syscall.SysProcAttr) {
	t.Helper()
	child := exec.Command(os.Args[0], path)
	child.Env = append(os.Environ(), childVariable+"="+name)
	child.SysProcAttr = attr
	out, err := child.CombinedOutput()
	missing := strings.Contains(string(out), errNoMount.Error()) || strings.Contains(string(out), errNoFilter.Error())
	if errors.Is(err, os.ErrPermission) || missing {
		t.Skipf("the system does not let tests mount a disk or filter system calls: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

var errNoMount = errors.New("mounting is not allowed")

// onFullDisk fills half of a small disk with another file, commits until the disk is full,
// and removes the other file.
func onFullDisk(dir string) error {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return errors.Join(errNoMount, err)
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		return errors.Join(errNoMount, err)
	}
	ballast := filepath.Join(dir, "ballast")
	return fillUp(filepath.Join(dir, "drover.db"), syscall.ENOSPC, 0,
		func() error { return os.WriteFile(ballast, make([]byte, diskSize/2), 0o600) },
		func() error { return os.Remove(ballast) })
}

// overFileLimit does the same with the limit on the size of one file. bbolt reaches it
// when it grows the file, not when it writes.
func overFileLimit(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
		return err
	}
	limit := func() error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2 * allocSize, Max: usual.Max})
	}
	return fillUp(path, syscall.EFBIG, allocSize*7/8, limit, func() error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual)
	})
}

// fillUp returns an error unless a store survives a full disk. It starts with one record of
// first bytes.
func fillUp(path string, errno syscall.Errno, first int, fill, free func() error) error {
	s, err := Open(Config{Path: path, Site: "alpha"})
	if err != nil {
		return err
	}
	var large Batch
	large.PutCold("large", make([]byte, first))
	if err := errors.Join(s.Commit(&large), fill()); err != nil {
		return err
	}
	committed := 0
	put := func() error {
		var b Batch
		// A commit needs less space than Probe, so Probe fails too when it fails.
		for i := range 4 {
			b.Put(fmt.Sprintf("job-%09d-%d", committed, i), make([]byte, 5_000))
		}
		err := s.Commit(&b)
		if err == nil {
			committed++
		}
		return err
	}
	for committed < 10_000 && err == nil {
		err = put()
	}
	var full *FullError
	if !errors.As(err, &full) || !errors.Is(err, errno) || committed == 0 {
		return fmt.Errorf("after %d commits: %v", committed, err) //nolint:errorlint // it can be nil
	}
	// The store stays full and reports so every time.
	for range 20 {
		if err := put(); !errors.As(err, &full) {
			return fmt.Errorf("committing again: %v", err) //nolint:errorlint // it can be nil
		}
	}
	if err := s.Probe(); !errors.As(err, &full) {
		return fmt.Errorf("probing: %v", err) //nolint:errorlint // it can be nil
	}
	if err := there(s, committed); err != nil {
		return err
	}
	if err := free(); err != nil {
		return err
	}
	if err := s.Probe(); err != nil {
		return fmt.Errorf("probing with free space: %w", err)
	}
	for range 20 {
		if err := put(); err != nil {
			return fmt.Errorf("committing with free space: %w", err)
		}
	}
	if err := there(s, committed); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(Config{Path: path, Site: "alpha"}); err != nil {
		return err
	}
	return errors.Join(there(s, committed), s.Close())
}

// there returns an error unless the store holds exactly the committed records.
func there(s *Store, committed int) error {
	n := 0
	if err := s.Load(func(string, []byte) error { n++; return nil }); err != nil {
		return err
	}
	if n != 4*committed {
		return fmt.Errorf("%d records after %d commits", n, committed)
	}
	return nil
}
