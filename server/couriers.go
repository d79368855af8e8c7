package server

import (
	"context"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The limits of what is under way to other servers. What is beyond them is
// dropped, as a network may do it: the core says everything again.
const (
	mostLetters    = 4096
	lettersAtOnce  = 32
	letterPatience = 10 * time.Second
)

// couriers carry the core's messages to other servers, and the answers back.
type couriers struct {
	s     *Server
	peers *rpc.Peers
	busy  chan struct{} // as many as may be under way at once

	mu      sync.Mutex
	letters map[letter]bool // under way or waiting
}

// letter is what makes two messages the same one.
type letter struct {
	job   batch.JobID
	epoch uint32
	kind  site.MessageKind
}

func newCouriers(s *Server) *couriers {
	return &couriers{s: s, peers: rpc.NewPeers(), busy: make(chan struct{}, lettersAtOnce), letters: make(map[letter]bool)}
}

// send sends a message unless the same one is under way already; called by the
// loop.
func (c *couriers) send(m site.Message) {
	l := letter{job: m.Job, epoch: m.Epoch, kind: m.Kind}
	c.mu.Lock()
	if c.letters[l] || len(c.letters) >= mostLetters {
		c.mu.Unlock()
		return
	}
	c.letters[l] = true
	c.mu.Unlock()
	c.s.spawn(func() {
		defer func() {
			c.mu.Lock()
			delete(c.letters, l)
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

// deliver brings one message to its site and the answer to the core.
func (c *couriers) deliver(m *site.Message) error {
	s := c.s
	url, err := s.Peer("to", m.To)
	if err != nil {
		return err
	}
	patience := letterPatience
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
	return s.insist(s.life, func() {
		if err := s.recall(m.Job); err != nil {
			s.log.Error("an answer about a job", "job", m.Job, "error", err)
			return
		}
		p := planner{ctx: s.life, server: s}
		s.core.Receive(s.now(), &answer, &p)
	})
}

// close ends the connections.
func (c *couriers) close() { c.peers.Close() }
