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

// probeEvery is how long a server whose disk is full waits between two looks.
const probeEvery = batch.Second

// errDiskFull is the answer of a server that cannot write.
var errDiskFull = &problem.Problem{
	Reason: problem.DiskFull, Message: "the disk of the server is full: it takes nothing new", Retryable: true,
	Hint: "its operator has to make room; the agent knows other sites",
}

// disk remembers that the store could not be written. While it cannot, nothing
// that would change a record is begun: jobs go on running, their ends are told
// later, and what is on disk can be read.
type disk struct {
	full atomic.Bool
	next batch.Time // of a look whether there is room again; the loop's
	last batch.Time // that it was found full; the loop's
}

func (d *disk) degraded() bool { return d.full.Load() }

// failed notes that a commit found no room.
func (d *disk) failed(now batch.Time) {
	d.full.Store(true)
	d.last = now
	d.next = now.Add(probeEvery)
}

// refuses returns why nothing may be changed now, or nil; called by the loop.
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

// isFull says whether an error is about room.
func isFull(err error) bool {
	_, full := errors.AsType[*store.FullError](err)
	return full
}

// awaitRoom waits until the disk has space for an attempt of a job, or the server
// ends.
func (s *Server) awaitRoom(id batch.JobID) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := s.data.CheckRoom(id)
		if !files.IsFull(err) {
			return
		}
		s.log.Error("launch waits: the disk is full", "job", id, "error", err)
		select {
		case <-time.After(pause):
		case <-s.life.Done():
			return
		}
	}
}
