package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
)

// dataDir is the directory of one server:
//
//	lock        held while the server lives
//	drover.db   what it must not forget, see package store
//	content/    uploaded files
//	jobs/ID/    in/ARGUMENT/NAME, inout/ARGUMENT, work/ (where the job runs), stdout,
//	            stderr, attempts/ (see package journal), slurm-E-A.log,
//	            checkpoint/ (for the job's own use), begun and copying (see inout.go)
//	scripts/    batch scripts of services
//	slurm.json  what Slurm was last found to be
//	attempts/   as those of jobs, where processors are shared; see package node
//	supervisor* of the process that keeps what runs
type dataDir struct {
	root  string
	lock  *os.File
	names syncs
}

// openData takes a directory, made if it is not there.
func openData(root string) (*dataDir, error) {
	d := &dataDir{root: root}
	if err := os.MkdirAll(d.jobs(), 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	var err error
	if d.lock, err = os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	// A server that was killed has the lock until it is gone.
	for patience := time.Now().Add(lockPatience); ; time.Sleep(20 * time.Millisecond) {
		err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(patience) {
			return nil, errors.Join(fmt.Errorf("data directory %s is another server's: %w", root, err), d.lock.Close())
		}
	}
	if err := d.checkStore(); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// lockPatience is how long the directory may be another server's.
const lockPatience = time.Second

// db returns the file of the store.
func (d *dataDir) db() string { return filepath.Join(d.root, "drover.db") }

// checkStore refuses a directory with jobs in it and no store: a server that began
// anew would take their files for nobody's.
func (d *dataDir) checkStore() error {
	if _, err := os.Lstat(d.db()); !errors.Is(err, fs.ErrNotExist) {
		return nil // what it is, the store will see
	}
	entries, err := os.ReadDir(d.jobs())
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	jobs := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	if len(jobs) == 0 {
		return nil
	}
	return fmt.Errorf("data directory %s has files of %d jobs and no drover.db: restore it, or move %s away as well to begin anew",
		d.root, len(jobs), d.jobs())
}

// clear removes the directories that belong to no job, and returns how many there
// were.
func (d *dataDir) clear(known func(batch.JobID) bool) (int, error) {
	left, err := os.ReadDir(d.jobs())
	n := 0
	for _, e := range left {
		if !known(batch.JobID(e.Name())) {
			n++
			err = errors.Join(err, d.remove(filepath.Join(d.jobs(), e.Name())))
		}
	}
	return n, err
}

// close lets another server have the directory.
func (d *dataDir) close() error { return d.lock.Close() }

func (d *dataDir) jobs() string { return filepath.Join(d.root, "jobs") }

// again is where starts of attempts leave word that were started before.
func (d *dataDir) again() string { return filepath.Join(d.root, "again") }

// clusterFile is where it is written down what Slurm was found to be.
func (d *dataDir) clusterFile() string { return filepath.Join(d.root, "slurm.json") }

// job returns the directory of a job, whose ID is a UUID and no other path.
func (d *dataDir) job(id batch.JobID) string { return filepath.Join(d.jobs(), string(id)) }

// input returns where a job finds a file that goes in.
func (d *dataDir) input(id batch.JobID, argument, name string) string {
	return filepath.Join(d.job(id), inputPath(argument, name))
}

// work returns the directory in which a job runs and writes its files.
func (d *dataDir) work(id batch.JobID) string { return filepath.Join(d.job(id), "work") }

// stream returns the file of a job's stdout or stderr.
func (d *dataDir) stream(id batch.JobID, name string) string { return filepath.Join(d.job(id), name) }

// attempts returns the directory of the files that decide about a job's attempts.
func (d *dataDir) attempts(id batch.JobID) string { return filepath.Join(d.job(id), "attempts") }

// make makes a job's directory, durably, unless it is there: a claim in it must
// outlive a power failure.
func (d *dataDir) make(id batch.JobID) error {
	err := os.Mkdir(d.job(id), 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("job directory: %w", err)
	}
	return d.sync()
}

// makeAttempts makes a job's directory with that of its attempts, durably, unless they
// are there. It comes before a launch is on record, so that who finds none afterwards
// knows that it was removed, and with it what says whether the job has run.
func (d *dataDir) makeAttempts(id batch.JobID) error {
	if err := d.make(id); err != nil {
		return err
	}
	err := os.Mkdir(d.attempts(id), 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err == nil:
		err = syncDirs(d.job(id))
	}
	if err != nil {
		return fmt.Errorf("directory for attempts: %w", err)
	}
	return nil
}

// lacksAttempts reports that this directory is not there.
func (d *dataDir) lacksAttempts(id batch.JobID) bool {
	_, err := os.Stat(d.attempts(id))
	return errors.Is(err, fs.ErrNotExist)
}

// stage makes a directory that is to become a job's.
func (d *dataDir) stage() (string, error) {
	dir, err := os.MkdirTemp(d.jobs(), ".new-*")
	if err != nil {
		return "", fmt.Errorf("job directory: %w", err)
	}
	return dir, nil
}

// adopt makes a staged directory the job's, in place of one that it may have left
// here before it moved away and came back.
func (d *dataDir) adopt(staged string, id batch.JobID) error {
	away, err := d.discard(id)
	if err == nil {
		err = os.Rename(staged, d.job(id))
	}
	if away != "" {
		err = errors.Join(err, d.remove(away))
	}
	if err != nil {
		return fmt.Errorf("job directory: %w", err)
	}
	return nil
}

// discard takes a job's directory out of the way at once, and returns where it is
// now, for remove; "" if there is none.
func (d *dataDir) discard(id batch.JobID) (away string, err error) {
	away, err = os.MkdirTemp(d.jobs(), ".old-*")
	if err != nil {
		return "", fmt.Errorf("job directory: %w", err)
	}
	if err := os.Rename(d.job(id), filepath.Join(away, string(id))); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return "", errors.Join(fmt.Errorf("job directory: %w", err), os.Remove(away))
		}
		return "", os.Remove(away)
	}
	return away, nil
}

// sync makes durable which jobs have directories.
func (d *dataDir) sync() error {
	return d.names.share(func() error {
		if err := syncDirs(d.jobs()); err != nil {
			return fmt.Errorf("job directories: %w", err)
		}
		return nil
	})
}

// remove takes a directory away, whatever its programs have made of its modes.
func (d *dataDir) remove(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// A directory that its program has closed to itself.
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
