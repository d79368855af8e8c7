package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
)

// lockTimeout is how long Open waits for a lock: a server that was killed holds it
// until its process is gone.
const lockTimeout = time.Second

// Dir is the directory of one server, see the package's documentation. Methods can
// be called concurrently for different jobs.
type Dir struct {
	Root string

	lock  *os.File
	jobs  string
	syncs syncs // of the directory jobs
}

// Open locks a directory, which it creates if necessary. Close unlocks it.
func Open(root string) (*Dir, error) {
	d := &Dir{Root: root, jobs: filepath.Join(root, "jobs")}
	if err := os.MkdirAll(d.jobs, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	var err error
	if d.lock, err = os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(20 * time.Millisecond) {
		err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("data directory %s is used by another server: %w", root, err),
				d.lock.Close())
		}
	}
	if err := d.checkDB(); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// Close unlocks the directory.
func (d *Dir) Close() error { return d.lock.Close() }

// DB returns the path of the store.
func (d *Dir) DB() string { return filepath.Join(d.Root, "drover.db") }

// checkDB refuses a directory with jobs and without a store: a server that started
// on it would remove the files of all jobs.
func (d *Dir) checkDB() error {
	if _, err := os.Lstat(d.DB()); !errors.Is(err, fs.ErrNotExist) {
		return nil // the store checks its own file
	}
	entries, err := os.ReadDir(d.jobs)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	jobs := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	if len(jobs) == 0 {
		return nil
	}
	return fmt.Errorf("data directory %s has files of %d jobs but no drover.db: restore it, "+
		"or move %s away, too, to start with an empty directory",
		d.Root, len(jobs), d.jobs)
}

// Jobs returns the directory with the directories of all jobs.
func (d *Dir) Jobs() string { return d.jobs }

// Job returns the directory of a job. Its ID is a UUID and no other path.
func (d *Dir) Job(id batch.JobID) string { return filepath.Join(d.jobs, string(id)) }

// Work returns the directory in which a job runs and writes its outputs.
func (d *Dir) Work(id batch.JobID) string { return filepath.Join(d.Job(id), "work") }

// Stream returns the file of a job's Stdout or Stderr.
func (d *Dir) Stream(id batch.JobID, name string) string { return filepath.Join(d.Job(id), name) }

// Attempts returns the directory of the claims of a job's attempts.
func (d *Dir) Attempts(id batch.JobID) string { return filepath.Join(d.Job(id), "attempts") }

// Checkpoint returns the directory for a job's own checkpoints. It is removed with
// the job.
func (d *Dir) Checkpoint(id batch.JobID) string { return filepath.Join(d.Job(id), "checkpoint") }

// Make creates a job's directory if there is none. It is durable, because a claim in
// it must survive a power failure.
func (d *Dir) Make(id batch.JobID) error {
	err := os.Mkdir(d.Job(id), 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("job directory: %w", err)
	}
	return d.Sync()
}

// MakeAttempts creates a job's directory with that of its attempts, durably, if there
// is none. Call it before a launch is recorded: if the directory is missing later, the
// job has removed it, and with it the evidence of whether the job has run.
func (d *Dir) MakeAttempts(id batch.JobID) error {
	if err := d.Make(id); err != nil {
		return err
	}
	err := os.Mkdir(d.Attempts(id), 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err == nil:
		err = SyncDirs(d.Job(id))
	}
	if err != nil {
		return fmt.Errorf("directory for attempts: %w", err)
	}
	return nil
}

// LacksAttempts reports whether the directory of a job's attempts is missing.
func (d *Dir) LacksAttempts(id batch.JobID) bool {
	_, err := os.Stat(d.Attempts(id))
	return errors.Is(err, fs.ErrNotExist)
}

// Adopt makes a staged directory the job's. It replaces a directory that the job left
// before it moved away and came back.
func (d *Dir) Adopt(staged string, id batch.JobID) error {
	old, err := d.Discard(id)
	if err == nil {
		err = os.Rename(staged, d.Job(id))
	}
	if old != "" {
		err = errors.Join(err, d.Remove(old))
	}
	if err != nil {
		return fmt.Errorf("job directory: %w", err)
	}
	return nil
}

// Discard renames a job's directory at once and returns the new path, to be passed to
// Remove; "" if the job has no directory.
func (d *Dir) Discard(id batch.JobID) (old string, err error) {
	old, err = os.MkdirTemp(d.jobs, ".old-*")
	if err != nil {
		return "", fmt.Errorf("job directory: %w", err)
	}
	if err := os.Rename(d.Job(id), filepath.Join(old, string(id))); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return "", errors.Join(fmt.Errorf("job directory: %w", err), os.Remove(old))
		}
		return "", os.Remove(old)
	}
	return old, nil
}

// Clear removes the directories that belong to no known job and returns their number.
func (d *Dir) Clear(known func(batch.JobID) bool) (int, error) {
	entries, err := os.ReadDir(d.jobs)
	n := 0
	for _, e := range entries {
		if !known(batch.JobID(e.Name())) {
			n++
			err = errors.Join(err, d.Remove(filepath.Join(d.jobs, e.Name())))
		}
	}
	return n, err
}

// Remove removes a directory, whatever modes its program has set.
func (d *Dir) Remove(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Sync makes the set of job directories durable.
func (d *Dir) Sync() error {
	return d.syncs.share(func() error {
		if err := SyncDirs(d.jobs); err != nil {
			return fmt.Errorf("job directories: %w", err)
		}
		return nil
	})
}

// Size returns the size of a job's readable files, in bytes.
func (d *Dir) Size(id batch.JobID) int64 {
	var sum int64
	_ = filepath.WalkDir(d.Job(id), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable files do not count
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// launchRoom is the space that a launch needs for the claim and the streams, in bytes.
const launchRoom = 64 << 10

// CheckRoom creates a job's directory and checks whether an attempt would have enough
// space in it. See IsFull for the error.
func (d *Dir) CheckRoom(id batch.JobID) error {
	if err := os.MkdirAll(d.Job(id), 0o700); err != nil {
		return err
	}
	name := filepath.Join(d.Job(id), ".room")
	err := os.WriteFile(name, make([]byte, launchRoom), 0o600)
	if e := os.Remove(name); err == nil {
		err = e
	}
	if err == nil {
		err = d.checkInoutRoom(id)
	}
	return err
}

// checkInoutRoom checks whether there is space for the copies that an attempt gets.
func (d *Dir) checkInoutRoom(id batch.JobID) error {
	entries, err := os.ReadDir(filepath.Join(d.Job(id), inout))
	if err != nil {
		return nil //nolint:nilerr // usually there are none; otherwise the launch fails
	}
	need := uint64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			need += uint64(info.Size())
		}
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(d.Job(id), &disk); err != nil {
		return fmt.Errorf("free disk space: %w", err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); need > free {
		return fmt.Errorf("copies of %d bytes where %d are free: %w", need, free, syscall.ENOSPC)
	}
	return nil
}

// IsFull reports whether an error means that the disk or a quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
