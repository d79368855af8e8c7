package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
)

// roomForLaunch is what has to fit on the disk before an attempt is launched that
// follows one which found no room: its claim and the files of its streams. Bytes.
const roomForLaunch = 64 << 10

// awaitRoom returns when files can be made in the directory of a job, or cannot
// for another reason than want of room, or the server ends.
func (s *Server) awaitRoom(id batch.JobID) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := s.data.room(id)
		if !noRoom(err) {
			return
		}
		s.log.Error("no room for the files of a job, it waits to be launched", "job", id, "error", err)
		select {
		case <-time.After(pause):
		case <-s.life.Done():
			return
		}
	}
}

// room makes a job's directory and tries whether there is room in it.
func (d *dataDir) room(id batch.JobID) error {
	if err := os.MkdirAll(d.job(id), 0o700); err != nil {
		return err
	}
	name := filepath.Join(d.job(id), ".room")
	err := os.WriteFile(name, make([]byte, roomForLaunch), 0o600)
	if gone := os.Remove(name); err == nil {
		err = gone
	}
	if err == nil {
		err = d.roomToCopy(id)
	}
	return err
}

// roomToCopy tries whether there is room for the copies that an attempt begins with.
func (d *dataDir) roomToCopy(id batch.JobID) error {
	all, err := os.ReadDir(filepath.Join(d.job(id), inout))
	if err != nil {
		return nil //nolint:nilerr // there are none, as a rule; the launch will see
	}
	need := uint64(0)
	for _, e := range all {
		if info, err := e.Info(); err == nil {
			need += uint64(info.Size())
		}
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(d.job(id), &disk); err != nil {
		return fmt.Errorf("room on the disk: %w", err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); need > free {
		return fmt.Errorf("copies of %d bytes where %d are free: %w", need, free, syscall.ENOSPC)
	}
	return nil
}

// noRoom says whether an error of the system is for want of space.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
