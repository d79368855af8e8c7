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

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/rpc"
)

// Limits of copies from other sites.
const (
	mostCopies   = 4                      // at a time; more wait
	copyTries    = 6                      // attempts until a transfer fails
	copyPause    = 100 * time.Millisecond // after the first attempt; it doubles
	tellProgress = 200 * time.Millisecond
	tellWaiting  = time.Second
)

// copies are the transfers of data to this site. The first caller that needs some data transfers
// them; other callers that need the same data wait. If the first caller gives up, a waiting one
// resumes the transfer.
type copies struct {
	mu      sync.Mutex
	running map[string]*copying // by handle
	slots   chan struct{}       // a semaphore
}

// copying is one transfer in progress.
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

// join returns the transfer of a handle and whether the caller must perform it.
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

// enter waits until a transfer may begin. It reports progress while it waits.
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

// CopyData copies data here from the site that has them; from is its name, or "" for any site. It
// reports its progress in bytes to tell.
func (s *Server) CopyData(ctx context.Context, id, from string, tell func(have, size int64) error) (depot.Data, error) {
	if !depot.IsID(id) {
		return depot.Data{}, badHandle("id", id)
	}
	if from != "" && from != s.cfg.Name {
		if err := s.CheckPeerName("from", from); err != nil {
			return depot.Data{}, err
		}
	}
	// The copy ends when the server stops.
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
			d, err := s.fetchData(ctx, id, from, one, tell)
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

// wait reports the progress of another caller's transfer until it ends.
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

// fetchData performs a transfer.
func (s *Server) fetchData(
	ctx context.Context, id, from string, one *copying, tell func(have, size int64) error,
) (depot.Data, error) {
	if err := s.copies.enter(ctx, tell); err != nil {
		return depot.Data{}, err
	}
	defer s.copies.leave()
	pause := copyPause
	pauses := &backoff.ExponentialBackOff{InitialInterval: 2 * copyPause, Multiplier: 2, MaxInterval: time.Minute}
	damaged := false
	for try := 1; ; {
		src, err := s.locate(ctx, id, from)
		if err != nil {
			return depot.Data{}, err
		}
		if src.data.Mode == depot.Sticky {
			return depot.Data{}, stickyElsewhere(id, src.site)
		}
		if err := s.depot.Room(&src.data); err != nil { // before bytes are sent
			return depot.Data{}, err
		}
		err = s.transfer(ctx, &src, one, tell)
		if err == nil {
			d, err := s.depot.Put(src.data)
			if !errors.Is(err, blobs.ErrUnknown) { // the content was evicted meanwhile
				return d, err
			}
		}
		var mismatch *blobs.MismatchError
		busy := errors.Is(err, blobs.ErrArriving) || errors.Is(err, blobs.ErrTaken) // a client uploads the same content
		switch {
		case ctx.Err() != nil:
			return depot.Data{}, ctx.Err()
		case busy:
		// the damage may be in an earlier, partial upload, which is now removed
		case errors.As(err, &mismatch) && !damaged:
			damaged = true
		case errors.As(err, &mismatch):
			return depot.Data{}, &problem.Problem{
				Reason: problem.Unreachable, Field: "id",
				Message: fmt.Sprintf("data %s are damaged at site %s: %v", id, src.site, err),
				Hint:    "put them again",
			}
		case err != nil && !rpc.Broken(err):
			return depot.Data{}, err
		default:
			s.log.Warn("transfer interrupted", "handle", id, "from", src.site, "error", err)
			if try++; try > copyTries {
				return depot.Data{}, &problem.Problem{
					Reason: problem.Unreachable, Field: "id", Retryable: true,
					Message: fmt.Sprintf("the transfer of data %s from site %s failed several times", id, src.site),
					Hint:    "try again: the transfer resumes where it stopped",
				}
			}
			pause = pauses.NextBackOff()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return depot.Data{}, ctx.Err()
		}
	}
}

// transfer fetches content, from the offset that an earlier transfer reached.
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
		// Callers that wait get progress reports even while no bytes arrive.
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

// counted counts and reports the bytes read.
type counted struct {
	Reader   io.ReadCloser
	have     int64
	reported time.Time
	tell     func(have int64) error
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.have += int64(n)
	if now := time.Now(); err == nil && now.Sub(c.reported) >= tellProgress {
		c.reported = now
		err = c.tell(c.have)
	}
	return n, err
}

// Close implements io.Closer.
func (c *counted) Close() error { return c.Reader.Close() }

// lookTimeout bounds the search for a site that has some data.
const lookTimeout = 5 * time.Second

// source is a site that has data.
type source struct {
	site, url string
	data      depot.Data
}

// locate finds a site that has data: from, or the first site that answers.
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
	var silent, reasons []string
	for range urls {
		a := <-answers
		switch {
		case a.err != nil:
			silent = append(silent, a.site)
		case a.data.ID == id && s.checkData(&a.data) == nil && checkBlock(&a.data) == nil:
			a.data.Copy = a.data.Mode != depot.Sticky
			return a.source, nil
		case a.gone != "":
			reasons = append(reasons, a.gone)
		}
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return source{}, err
	}
	return source{}, s.nowhere(id, reasons, silent)
}

// nowhere returns the problem that no site has data, with the reasons and the sites that did not
// answer.
func (s *Server) nowhere(id string, reasons, silent []string) error {
	if _, err := s.depot.Get(id); err != nil {
		if gone, ok := errors.AsType[*depot.GoneError](err); ok {
			reasons = append(reasons, s.DescribeGone(gone))
		}
	}
	p := &problem.Problem{
		Reason: problem.UnknownData, Field: "id", Accepted: "a handle of data at a site",
		Message: fmt.Sprintf("no site has data %s", id), Hint: "drover data list shows what there is",
	}
	if slices.Sort(reasons); len(reasons) > 0 {
		p.Message += ": " + strings.Join(reasons, "; ")
	}
	if slices.Sort(silent); len(silent) > 0 {
		p.Message += fmt.Sprintf("; sites that did not answer: %s", strings.Join(silent, ", "))
		p.Retryable, p.Hint = true, "try again when these sites answer"
	}
	return p
}

func stickyElsewhere(id, site string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.StickyData, Field: "id", Accepted: "data that are not sticky",
		Message: fmt.Sprintf("data %s are sticky: they stay at site %s", id, site),
		Hint:    "submit jobs that use them to site " + site,
	}
}
