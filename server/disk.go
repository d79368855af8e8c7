package server

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// probeEvery is the time between two checks of a full disk.
const probeEvery = batch.Second

// errDiskFull is the error of a server that cannot write.
var errDiskFull = &problem.Problem{
	Reason: problem.DiskFull, Message: "the disk of the server is full: it accepts no new work", Retryable: true,
	Hint: "its operator must free disk space; ask the agent for another site",
}

// disk records whether the store can be written. While it cannot, no change of a record begins:
// jobs keep running, their ends are reported later, and reads work.
type disk struct {
	full atomic.Bool
	next batch.Time // of the next check for free space; owned by the loop
	last batch.Time // time at which the disk was last found full; owned by the loop
}

func (d *disk) degraded() bool { return d.full.Load() }

// failed records that a commit failed for lack of space.
func (d *disk) failed(now batch.Time) {
	d.full.Store(true)
	d.last = now
	d.next = now.Add(probeEvery)
}

// refuses returns why no change is possible now, or nil; called by the loop.
func (d *disk) refuses(now batch.Time, st *store.Store) error {
	if !d.degraded() {
		return nil
	}
	if now < d.next {
		return errDiskFull
	}
	d.next = now.Add(probeEvery)
	if err := st.Probe(); err != nil {
		d.last = now
		return errDiskFull
	}
	d.full.Store(false)
	return nil
}

// isFull reports whether an error means that the disk is full.
func isFull(err error) bool {
	_, full := errors.AsType[*store.FullError](err)
	return full
}

// awaitRoom waits until the disk has space for an attempt of a job, or the server stops.
func (s *Server) awaitRoom(id batch.JobID) {
	for pauses := newPauses(2 * time.Second); ; {
		err := s.data.CheckRoom(id)
		if !files.IsFull(err) {
			return
		}
		s.log.Error("launch waits for disk space", "job", id, "error", err)
		select {
		case <-time.After(pauses.NextBackOff()):
		case <-s.life.Done():
			return
		}
	}
}
