package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/rpc"
)

// Bounds of copying data from other sites.
const (
	mostCopies   = 4                      // at a time; more wait
	copyTries    = 6                      // until a transfer that breaks off again and again is given up
	copyPause    = 100 * time.Millisecond // after the first; each one doubles it
	tellProgress = 200 * time.Millisecond
	tellWaiting  = time.Second
)

// copies are the transfers of data to this site. The one who asks first carries it
// out, and others who want the same wait for him. When he goes one of them goes on
// from where he was.
type copies struct {
	mu      sync.Mutex
	running map[string]*copying // by handle
	slots   chan struct{}       // holds a value for each one that may not begin now
}

// copying is one transfer under way.
type copying struct {
	over chan struct{} // closed when it has ended
	mu   sync.Mutex
	have int64
	size int64
}

func (c *copying) set(have, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.have, c.size = have, size
}

func (c *copying) progress() (have, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.have, c.size
}

// join returns the transfer of a handle, and whether the caller is to carry it out.
func (c *copies) join(id string) (one *copying, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.running[id]; one != nil {
		return one, false
	}
	if c.running == nil {
		c.running, c.slots = make(map[string]*copying), make(chan struct{}, mostCopies)
	}
	one = &copying{over: make(chan struct{})}
	c.running[id] = one
	return one, true
}

func (c *copies) end(id string, one *copying) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, id)
	close(one.over)
}

// enter waits until a transfer may begin. Who waits hears that he is not forgotten.
func (c *copies) enter(ctx context.Context, tell func(have, size int64) error) error {
	tick := time.NewTicker(tellWaiting)
	defer tick.Stop()
	for {
		select {
		case c.slots <- struct{}{}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if err := tell(0, 0); err != nil {
				return err
			}
		}
	}
}

func (c *copies) leave() { <-c.slots }

// CopyData brings data here from the site that has them; from is its name, or "" for
// any. It tells how far it has come.
func (s *Server) CopyData(ctx context.Context, id, from string, tell func(have, size int64) error) (depot.Data, error) {
	if !depot.IsID(id) {
		return depot.Data{}, badHandle("id", id)
	}
	if from != "" && from != s.cfg.Name {
		if err := s.CheckPeerName("from", from); err != nil {
			return depot.Data{}, err
		}
	}
	// The end of the server ends it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errStopping) })()
	for {
		if s.leaving.Load() {
			return depot.Data{}, errStopping
		}
		if s.disk.degraded() {
			return depot.Data{}, errDiskFull
		}
		if d, err := s.depot.Use(id, ""); err == nil || !isUnknownData(err) {
			return d, err
		}
		one, mine := s.copies.join(id)
		if mine {
			d, err := s.carry(ctx, id, from, one, tell)
			s.copies.end(id, one)
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return d, err
		}
		if err := one.wait(ctx, tell); err != nil {
			return depot.Data{}, err
		}
	}
}

func isUnknownData(err error) bool {
	var gone *depot.GoneError
	return errors.Is(err, depot.ErrUnknown) || errors.As(err, &gone)
}

// wait tells how far somebody else's transfer is until it has ended.
func (c *copying) wait(ctx context.Context, tell func(have, size int64) error) error {
	tick := time.NewTicker(tellProgress)
	defer tick.Stop()
	for {
		select {
		case <-c.over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if err := tell(c.progress()); err != nil {
				return err
			}
		}
	}
}

// carry carries a transfer out.
func (s *Server) carry(ctx context.Context, id, from string, one *copying, tell func(have, size int64) error) (depot.Data, error) {
	if err := s.copies.enter(ctx, tell); err != nil {
		return depot.Data{}, err
	}
	defer s.copies.leave()
	pause := copyPause
	damaged := false
	for try := 1; ; {
		src, err := s.locate(ctx, id, from)
		if err != nil {
			return depot.Data{}, err
		}
		if src.data.Mode == depot.Sticky {
			return depot.Data{}, stickyElsewhere(id, src.site)
		}
		if err := s.depot.Room(&src.data); err != nil { // before anything travels
			return depot.Data{}, err
		}
		err = s.transfer(ctx, &src, one, tell)
		if err == nil {
			d, err := s.depot.Put(src.data)
			if !errors.Is(err, blobs.ErrUnknown) { // the content has gone again meanwhile
				return d, err
			}
		}
		var mismatch *blobs.MismatchError
		busy := errors.Is(err, blobs.ErrArriving) || errors.Is(err, blobs.ErrTaken) // a client sends the same
		switch {
		case ctx.Err() != nil:
			return depot.Data{}, ctx.Err()
		case busy:
		case errors.As(err, &mismatch) && !damaged: // it may be what had arrived before, and is gone now
			damaged = true
		case errors.As(err, &mismatch):
			return depot.Data{}, &problem.Problem{
				Reason: problem.Unreachable, Field: "id", Message: fmt.Sprintf("data %s are damaged at site %s: %v", id, src.site, err),
				Hint: "put them anew",
			}
		case err != nil && !rpc.Broken(err):
			return depot.Data{}, err
		default:
			s.log.Warn("a copy of data has broken off", "handle", id, "from", src.site, "error", err)
			if try++; try > copyTries {
				return depot.Data{}, &problem.Problem{
					Reason: problem.Unreachable, Field: "id", Retryable: true,
					Message: fmt.Sprintf("the transfer of data %s from site %s breaks off again and again", id, src.site),
					Hint:    "try again: what has arrived need not travel again",
				}
			}
			pause *= 2
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return depot.Data{}, ctx.Err()
		}
	}
}

// transfer brings content here, from where it broke off.
func (s *Server) transfer(ctx context.Context, src *source, one *copying, tell func(have, size int64) error) error {
	d := &src.data
	p := s.content.Have(d.SHA256, d.Size)
	if p.Complete && p.Size == d.Size {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &counted{
		Reader: s.outbox.peers.OpenData(ctx, src.url, d.ID, p.Have), have: p.Have,
		// Whoever waits hears something now and then, if only that nothing has come.
		tell: func(have int64) error {
			one.set(have, d.Size)
			return tell(have, d.Size)
		},
	}
	defer r.Close()
	if err := r.tell(r.have); err != nil {
		return err
	}
	_, err := s.content.Add(r, blobs.Want{SHA256: d.SHA256, Size: d.Size, Offset: p.Have})
	return err
}

// counted tells how much has been read.
type counted struct {
	Reader io.ReadCloser
	have   int64
	told   time.Time
	tell   func(have int64) error
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.have += int64(n)
	if now := time.Now(); err == nil && now.Sub(c.told) >= tellProgress {
		c.told = now
		err = c.tell(c.have)
	}
	return n, err
}

// Close implements io.Closer.
func (c *counted) Close() error { return c.Reader.Close() }

// lookTimeout is that of the question who has some data.
const lookTimeout = 5 * time.Second

// source is a site that has data.
type source struct {
	site, url string
	data      depot.Data
}

// locate finds a site that has data: from, or whoever says so first.
func (s *Server) locate(ctx context.Context, id, from string) (source, error) {
	urls := make(map[string]string)
	for _, m := range s.group.Members() {
		if m.Role == gossip.Server && m.Name != s.cfg.Name && (from == "" || m.Name == from) {
			urls[m.Name] = m.URL
		}
	}
	if from != "" && len(urls) == 0 && from != s.cfg.Name {
		_, err := s.Peer("from", from)
		return source{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	type answer struct {
		source
		gone string
		err  error
	}
	answers := make(chan answer, len(urls))
	for name, url := range urls {
		go func() {
			d, gone, err := s.outbox.peers.FindData(ctx, url, id)
			a := answer{source: source{site: name, url: url}, gone: gone, err: err}
			if d != nil {
				a.data = *d
			}
			answers <- a
		}()
	}
	var silent, told []string
	for range urls {
		a := <-answers
		switch {
		case a.err != nil:
			silent = append(silent, a.site)
		case a.data.ID == id && s.checkData(&a.data) == nil && checkBlock(&a.data) == nil:
			a.data.Copy = a.data.Mode != depot.Sticky
			return a.source, nil
		case a.gone != "":
			told = append(told, a.gone)
		}
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return source{}, err
	}
	return source{}, s.nowhere(id, told, silent)
}

// nowhere says that nobody has data, as far as anybody has said.
func (s *Server) nowhere(id string, told, silent []string) error {
	if _, err := s.depot.Get(id); err != nil {
		if gone, ok := errors.AsType[*depot.GoneError](err); ok {
			told = append(told, s.DescribeGone(gone))
		}
	}
	p := &problem.Problem{
		Reason: problem.UnknownData, Field: "id", Accepted: "a handle of data that are at some site",
		Message: fmt.Sprintf("nobody has data %s", id), Hint: "drover data list shows what there is",
	}
	if slices.Sort(told); len(told) > 0 {
		p.Message += ": " + strings.Join(told, "; ")
	}
	if slices.Sort(silent); len(silent) > 0 {
		p.Message += fmt.Sprintf("; not answered: %s", strings.Join(silent, ", "))
		p.Retryable, p.Hint = true, "try again when these sites answer"
	}
	return p
}

func stickyElsewhere(id, site string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.StickyData, Field: "id", Accepted: "data that are not sticky", Message: fmt.Sprintf("data %s are sticky: they stay at site %s alone", id, site),
		Hint: "what uses them runs at site " + site,
	}
}
