package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Receive handles a message of another server. It returns the answer after the change is durable.
// Without an answer the other server retries.
func (s *Server) Receive(ctx context.Context, m *site.Message) (site.Message, error) {
	if s.leaving.Load() {
		return site.Message{}, errStopping
	}
	if _, err := site.CheckID(string(m.Job)); err != nil {
		return site.Message{}, err
	}
	var (
		answer site.Message
		reply  bool
		failed error
	)
	err := s.do(ctx, func() {
		if failed = s.recall(m.Job); failed == nil {
			p := planner{ctx: ctx, server: s}
			answer, reply = s.core.Receive(s.now(), m, &p)
			failed = p.err
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return site.Message{}, err
	}
	if !reply {
		return site.Message{}, &problem.Problem{
			Reason: problem.UnknownJob, Field: "job_id",
			Message: fmt.Sprintf("move %d of job %s is unknown here", m.Epoch, m.Job),
		}
	}
	return answer, nil
}

// Reserve handles a Reserve message. It fetches and checks the job's input before it passes the
// message to the core.
func (s *Server) Reserve(ctx context.Context, m *site.Message) (site.Message, error) {
	if s.leaving.Load() {
		return site.Message{}, errStopping
	}
	id, err := site.CheckID(string(m.Job))
	if err != nil {
		return site.Message{}, err
	}
	request := &m.Parcel.Dossier.Request
	if err := request.Validate(); err != nil {
		return site.Message{}, err
	}
	wanted, err := s.wanted(ctx, m)
	if err != nil {
		return site.Message{}, err
	}
	staged := ""
	if wanted {
		if _, err := s.Peer("from", m.From); err != nil { // this site may have to ask it for the result of the move
			return site.Message{}, err
		}
		for name, f := range s.inputs(request) {
			if err := s.fetch(ctx, m.From, id, name, f.File); err != nil {
				return site.Message{}, err
			}
		}
		if staged, err = s.stage(s.inputs(request)); err != nil {
			return site.Message{}, err
		}
	}
	var (
		answer site.Message
		failed error
	)
	err = s.do(ctx, func() { answer, failed = s.receiveReserve(ctx, m, &staged) })
	s.unstage(staged)
	return answer, errors.Join(err, failed)
}

// wanted reports whether the core does not know a Reserve yet and it may bring the job here.
func (s *Server) wanted(ctx context.Context, m *site.Message) (bool, error) {
	var (
		wanted bool
		failed error
	)
	err := s.see(ctx, func() {
		if failed = s.recall(m.Job); failed != nil || s.core.Draining() {
			return
		}
		j, err := s.core.Job(m.Job)
		wanted = err != nil || j.Epoch < m.Epoch
	})
	return wanted, errors.Join(err, failed)
}

// receiveReserve passes a Reserve with staged input to the core; called by the loop. For an incoming job it
// makes the staged directory the job's and empties staged.
func (s *Server) receiveReserve(ctx context.Context, m *site.Message, staged *string) (site.Message, error) {
	if err := s.recall(m.Job); err != nil {
		return site.Message{}, err
	}
	p := planner{ctx: ctx, server: s}
	answer, reply := s.core.Receive(s.now(), m, &p)
	if !reply {
		return site.Message{}, cmp.Or[error](p.err, site.ErrNoPlan)
	}
	if j, err := s.core.Job(m.Job); err == nil && j.State == site.Incoming && j.Epoch == m.Epoch {
		return answer, s.adoptIncoming(ctx, m, staged)
	}
	return answer, nil
}

// adoptIncoming gives an incoming job its input and its slot; called by the loop. A job whose input
// is missing is refused.
func (s *Server) adoptIncoming(ctx context.Context, m *site.Message, staged *string) error {
	s.order(ctx, s.core.Plans(nil))
	if *staged == "" {
		return nil
	}
	if err := s.data.Adopt(*staged, m.Job); err != nil {
		s.core.Receive(s.now(), &site.Message{Kind: site.Drop, From: m.From, To: m.To, Job: m.Job, Epoch: m.Epoch}, nil)
		return err
	}
	*staged, s.adopted = "", true
	return nil
}

// fetch fetches an input file of another server's job, unless its content is here.
func (s *Server) fetch(ctx context.Context, from string, id batch.JobID, argument string, f catalogue.File) error {
	if _, err := s.content.Find(f.SHA256); err == nil {
		return nil
	}
	url, err := s.Peer("from", from)
	if err != nil {
		return err
	}
	offset := int64(0)
	if p := s.content.Have(f.SHA256, f.Size); f.Size > 0 && !p.Arriving {
		// An earlier attempt stopped at this offset. If the partial content does not match, it is
		// dropped and the source retries.
		offset = p.Have
	}
	content := s.outbox.peers.OpenInput(ctx, url, id, argument, offset)
	defer content.Close()
	if _, err := s.content.Add(content, blobs.Want{SHA256: f.SHA256, Size: f.Size, Offset: offset}); err != nil {
		return fmt.Errorf("fetch argument %s of job %s from site %s: %w", argument, id, from, err)
	}
	return nil
}

// SendInput sends an input file of a job that this server still has, from an offset on.
func (s *Server) SendInput(
	ctx context.Context, name, argument string, offset int64, send func(files.Piece) error,
) error {
	r, err := s.Job(ctx, name)
	if err != nil {
		return err
	}
	v, ok := r.Dossier.Request.Arguments[argument]
	if !ok || !v.Type().In() {
		return &problem.Problem{
			Reason: problem.UnknownContent, Field: "argument", Accepted: "a file argument of the job",
			Message: fmt.Sprintf("job %s has no file argument %.70q", name, argument),
		}
	}
	f, err := s.data.OpenInput(r.ID, argument, v.File().Name)
	if err != nil {
		return fmt.Errorf("input of job %s: %w", name, err)
	}
	defer f.Close()
	return s.sendFile(ctx, f, offset, send)
}

// Peer returns the URL of another site's server. Field names the request field that holds the name.
func (s *Server) Peer(field, name string) (string, error) {
	for _, m := range s.group.Members() {
		if m.Role == gossip.Server && m.Name == name {
			return m.URL, nil
		}
	}
	return "", &problem.Problem{
		Reason: problem.UnknownSite, Field: field, Accepted: "a site of the grid", Retryable: true,
		Message: fmt.Sprintf("unknown site %q", name), Hint: "drover sites lists them",
	}
}

// unstage removes a staged directory that no job adopted, if there is one.
func (s *Server) unstage(dir string) {
	if dir == "" {
		return
	}
	if err := s.data.Remove(dir); err != nil {
		s.log.Warn("removing a staged directory failed", "dir", filepath.Base(dir), "error", err)
	}
}

// The limits of messages in flight to other servers. The outbox drops messages beyond them, as a
// network may: the core repeats every message.
const (
	maxMessages    = 4096
	messagesAtOnce = 32
	messageTimeout = 10 * time.Second
)

// outbox sends the core's messages to other servers and returns the answers to the core.
type outbox struct {
	s     *Server
	peers *rpc.Peers
	busy  chan struct{} // a semaphore of messages in flight

	mu      sync.Mutex
	pending map[messageKey]bool // in flight or waiting
}

// messageKey identifies a message.
type messageKey struct {
	job   batch.JobID
	epoch uint32
	kind  site.MessageKind
}

func newOutbox(s *Server) *outbox {
	return &outbox{
		s: s, peers: rpc.NewPeers(), busy: make(chan struct{}, messagesAtOnce),
		pending: make(map[messageKey]bool),
	}
}

// send sends a message unless the same one is already pending; called by the loop.
func (c *outbox) send(m site.Message) {
	l := messageKey{job: m.Job, epoch: m.Epoch, kind: m.Kind}
	c.mu.Lock()
	if c.pending[l] || len(c.pending) >= maxMessages {
		c.mu.Unlock()
		return
	}
	c.pending[l] = true
	c.mu.Unlock()
	c.s.spawn(func() {
		defer func() {
			c.mu.Lock()
			delete(c.pending, l)
			c.mu.Unlock()
		}()
		select {
		case c.busy <- struct{}{}:
			defer func() { <-c.busy }()
		case <-c.s.life.Done():
			return
		}
		if err := c.deliver(&m); err != nil {
			c.s.log.Debug("message not delivered", "kind", m.Kind, "job", m.Job, "to", m.To, "error", err)
		}
	})
}

// deliver sends one message to its site and passes the answer to the core.
func (c *outbox) deliver(m *site.Message) error {
	s := c.s
	url, err := s.Peer("to", m.To)
	if err != nil {
		return err
	}
	patience := messageTimeout
	if m.Kind == site.Reserve {
		patience = site.DefaultPatience.Move.Std() // the target fetches the input first
		if m.Parcel.Dossier == nil {
			r, err := s.Job(s.life, string(m.Job))
			if err != nil {
				return err
			}
			m.Parcel.Dossier = r.Dossier
		}
	}
	ctx, cancel := context.WithTimeout(s.life, patience)
	defer cancel()
	answer, err := c.peers.Send(ctx, url, m)
	if err != nil {
		return err
	}
	return s.doRetry(s.life, func() {
		if err := s.recall(m.Job); err != nil {
			s.log.Error("handling an answer failed", "job", m.Job, "error", err)
			return
		}
		p := planner{ctx: s.life, server: s}
		s.core.Receive(s.now(), &answer, &p)
	})
}

// close closes the connections.
func (c *outbox) close() { c.peers.Close() }
