package server

import (
	"context"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// call is something to be done by the loop.
type call struct {
	do   func()
	done chan struct{}
}

// entry is what the driver keeps of a job beside the core's record.
type entry struct {
	outputs []output
	told    uint64 // revision that the watchers know
	// watchers get the latest record: each channel holds one, which the loop
	// replaces.
	watchers []chan record
}

// record is a job as clients see it.
type record struct {
	site.Job
	outputs []output
}

// loop is the goroutine that owns the core.
func (s *Server) loop() {
	defer close(s.over)
	for {
		select {
		case c := <-s.calls:
			c.do()
			close(c.done)
		case <-s.quit:
			return
		}
	}
}

// do has f done by the loop and waits for it. An error means that f was not
// done: that of ctx, or errStopping.
func (s *Server) do(ctx context.Context, f func()) error {
	c := call{do: f, done: make(chan struct{})}
	select {
	case s.calls <- c:
		<-c.done
		return nil
	case <-s.over:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// now returns the present instant: the core lives on the batch system's clock.
func (s *Server) now() batch.Time { return s.system.Now() }

// record returns a job with what the driver knows of it; called by the loop.
func (s *Server) record(j site.Job) record {
	r := record{Job: j}
	if e := s.entries[j.ID]; e != nil {
		r.outputs = e.outputs
	}
	return r
}

// changed tells those who watch a job, and says whether there was news; called
// by the loop.
func (s *Server) changed(j site.Job) bool {
	e := s.entries[j.ID]
	if e == nil || e.told >= j.Revision {
		return false
	}
	e.told = j.Revision
	r := s.record(j)
	for _, w := range e.watchers {
		select {
		case <-w: // nobody has looked at the one before
		default:
		}
		w <- r
	}
	return true
}

// finished notes that a job has ended, and forgets the oldest that have when
// there are too many; called by the loop.
func (s *Server) finished(id batch.JobID) {
	s.ended = append(s.ended, id)
	for len(s.ended) > s.cfg.Limits.Finished {
		old := s.ended[0]
		s.ended = s.ended[1:]
		if err := s.core.Forget(old); err != nil {
			s.log.Error("forgetting a job", "job", old, "error", err)
		}
		delete(s.entries, old)
		dir := s.data.job(old)
		s.work.Go(func() {
			if err := s.data.remove(dir); err != nil {
				s.log.Warn("removing a job's directory", "job", old, "error", err)
			}
		})
	}
}

// subscribe returns a job as it is, and a channel with its latest record after
// each change. cancel ends the subscription.
func (s *Server) subscribe(ctx context.Context, id batch.JobID) (first record, changes <-chan record, cancel func(), err error) {
	w := make(chan record, 1)
	var failed error
	err = s.do(ctx, func() {
		var j site.Job
		if j, failed = s.core.Job(id); failed != nil {
			return
		}
		first = s.record(j)
		e := s.entries[id]
		e.watchers = append(e.watchers, w)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return record{}, nil, nil, err
	}
	return first, w, func() {
		// An error means that the loop, and with it all watching, is over.
		_ = s.do(context.WithoutCancel(ctx), func() {
			if e := s.entries[id]; e != nil {
				e.watchers = slices.DeleteFunc(e.watchers, func(o chan record) bool { return o == w })
			}
		})
	}, nil
}

// planner asks the batch system on behalf of the core.
type planner struct {
	ctx    context.Context // lives for one call, behind the core's interface
	server *Server
	err    error // why there was no answer
}

// Estimate is site.Planner's.
func (p *planner) Estimate(_ batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	ests, _, ok, err := p.server.system.Estimate(p.ctx, asks)
	if err != nil {
		p.err = err
		return false
	}
	copy(out, ests)
	return ok
}

// why returns the planner's own error where the core only knows that it gave no
// answer.
func (p *planner) why(err error) error {
	if p.err != nil && err != nil {
		return p.err
	}
	return err
}
