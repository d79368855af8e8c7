package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	children["fdatasync fails"] = func(path string) error { return commitWithout(unix.SYS_FDATASYNC, path, 1) }
	children["fsync fails"] = func(path string) error { return commitWithout(unix.SYS_FSYNC, path, allocSize) }
}

// Only a commit that syncs can notice that a sync fails. bbolt syncs pages and header with
// fdatasync, and with fsync the size of a file that grows.
func TestACommitFailsIfItsSyncFails(t *testing.T) {
	for _, name := range []string{"fdatasync fails", "fsync fails"} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			commit(t, s, func(b *Batch) { b.Put("a", nil) })
			if err := s.Close(); err != nil { // releases the lock for the child
				t.Fatal(err)
			}
			runChild(t, name, path, nil)
			if got := alive(t, open(t, path)); len(got) != 1 {
				t.Errorf("%d records after the failed commit, want 1", len(got))
			}
		})
	}
}

var errNoFilter = errors.New("seccomp filters are not available")

// commitWithout commits size bytes while a system call fails with EIO, and returns an error
// unless the commit does too.
func commitWithout(call uint32, path string, size int) error {
	s, err := Open(Config{Path: path, Site: "alpha"})
	if err != nil {
		return err
	}
	if err := deny(call); err != nil {
		return errors.Join(errNoFilter, err)
	}
	var b Batch
	b.Put("b", make([]byte, size/2))
	b.PutCold("b", make([]byte, size/2))
	// bbolt converts errors of growing the file to text.
	if err := s.Commit(&b); err == nil || !strings.Contains(err.Error(), unix.EIO.Error()) {
		return fmt.Errorf("commit returned %v, want %v", err, unix.EIO) //nolint:errorlint // it can be nil
	}
	return nil
}

// deny makes a system call of this process fail with EIO, on all its threads.
func deny(call uint32) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}
