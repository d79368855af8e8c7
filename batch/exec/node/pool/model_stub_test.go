package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

var (
	errSilent      = errors.New("no answer")
	errUnreachable = errors.New("nothing was sent")
	errNoLease     = errors.New("no lease covers it")
	errFollowed    = errors.New("followed already")
	errNotHeld     = errors.New("the answers take longer than the lease")
)

// stub is the server's side of a machine in one process of the server: a Node with the
// guarantees of package remote.
type stub struct {
	m    *machine
	ctx  context.Context
	work sync.WaitGroup

	mu        sync.Mutex
	next      token
	token     token
	renewed   chan struct{}
	order     int
	following map[ID]*seen
}

// seen is a process of a machine.
type seen struct {
	s      *stub
	id     ID
	done   chan struct{}
	wake   chan struct{} // holds one
	mu     sync.Mutex
	doubt  bool // it is unknown whether it was launched
	over   bool
	exit   exec.Exit
	queue  []signal
	looked bool // its goroutine run was started
}

type signal struct {
	sig   syscall.Signal
	order int
}

func newStub(ctx context.Context, m *machine, life int) *stub {
	return &stub{m: m, ctx: ctx, renewed: make(chan struct{}), order: life << 32, following: map[ID]*seen{}}
}

// ask sends a message to the machine and waits for the answer until ctx ends. The message
// continues after ctx ends.
func ask[T any](ctx context.Context, s *stub, what string, do func(m *machine) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	m, w := s.m, s.m.w
	got := make(chan answer, 1)
	w.mu.Lock()
	refused := !m.daemon
	w.mu.Unlock()
	if refused {
		sleep(m.delay(what))
		var none T
		return none, errUnreachable
	}
	w.flights.Go(func() {
		var a answer
		sleep(m.delay(what))
		passed := w.pass(&m.to)
		w.mu.Lock()
		if !passed || !m.daemon {
			w.mu.Unlock()
			got <- answer{err: errSilent}
			return
		}
		a.v, a.err = do(m)
		w.mu.Unlock()
		sleep(m.delay("answer to " + what))
		if !w.pass(&m.from) {
			a = answer{err: errSilent}
		}
		got <- a
	})
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
		var none T
		return none, errSilent
	}
}

func (s *stub) Renew(ctx context.Context, lease time.Duration) error {
	for range 2 {
		s.mu.Lock()
		t := s.next
		s.mu.Unlock()
		type reply struct {
			next token
			held bool
		}
		r, err := ask(ctx, s, "renew", func(m *machine) (reply, error) {
			next, held := m.renew(t, lease)
			return reply{next, held}, nil
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.next = r.next
		if r.held {
			s.token = r.next
			close(s.renewed)
			s.renewed = make(chan struct{})
		}
		s.mu.Unlock()
		if r.held {
			return nil
		}
	}
	return errNotHeld
}

func (s *stub) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	s.m.w.launches(s.m, t.ID)
	p, err := s.follow(t.ID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
	}
	sent := false
	for {
		s.mu.Lock()
		with, renewed := s.token, s.renewed
		s.mu.Unlock()
		st, err := ask(ctx, s, fmt.Sprint("launch ", t.ID), func(m *machine) (attempt.Status, error) {
			st, held := m.launch(t, with)
			if !held {
				return st, errNoLease
			}
			return st, nil
		})
		var again <-chan time.Time
		switch {
		case err == nil && st.Condition == attempt.Barred:
			p.Detach()
			return nil, exec.ErrNeverRan
		case err == nil:
			p.known(st)
			return p, nil
		case errors.Is(err, errUnreachable) && !sent:
			p.Detach()
			return nil, exec.ErrNodeGone
		case errors.Is(err, errNoLease):
		default:
			sent = sent || errors.Is(err, errSilent)
			again, renewed = time.After(50*time.Millisecond), nil
		}
		select {
		case <-renewed:
		case <-again:
		case <-ctx.Done():
			if sent {
				p.doubtful()
				return p, nil
			}
			p.Detach()
			return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, ctx.Err())
		}
	}
}

func (s *stub) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	p, err := s.follow(id)
	if err != nil {
		return attempt.Status{}, nil, err
	}
	st, err := s.attach(ctx, id)
	if err != nil || st.Condition != attempt.Running {
		p.Detach()
		return st, nil, err
	}
	p.known(st)
	return st, p, nil
}

func (s *stub) attach(ctx context.Context, id ID) (attempt.Status, error) {
	return ask(ctx, s, fmt.Sprint("attach ", id), func(m *machine) (attempt.Status, error) { return m.attach(id), nil })
}

func (s *stub) Bar(ctx context.Context, id ID) (bool, error) {
	return ask(ctx, s, fmt.Sprint("bar ", id), func(m *machine) (bool, error) { return m.bar(id), nil })
}

func (s *stub) SetShares(ctx context.Context, all []Shares) error {
	order := s.ordered()
	_, err := ask(ctx, s, "shares", func(m *machine) (struct{}, error) {
		for _, one := range all {
			if b := m.bodies[one.ID]; b != nil && !b.gone && order > b.order {
				b.order, b.share = order, one.Allocation[0].Share
			}
		}
		return struct{}{}, nil
	})
	return err
}

func (s *stub) ordered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order++
	return s.order
}

func (s *stub) follow(id ID) (*seen, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.following[id] != nil {
		return nil, errFollowed
	}
	p := &seen{s: s, id: id, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	s.following[id] = p
	return p, nil
}

func (p *seen) known(st attempt.Status) {
	p.mu.Lock()
	p.doubt = false
	p.mu.Unlock()
	p.take(st)
	p.look()
}

func (p *seen) doubtful() {
	p.mu.Lock()
	p.doubt = true
	p.mu.Unlock()
	p.look()
}

// look begins to follow it.
func (p *seen) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked && !p.over {
		p.looked = true
		p.s.work.Go(p.run)
	}
}

// run queries the process periodically, like a watch, and delivers its signals.
func (p *seen) run() {
	for {
		ctx, cancel := context.WithTimeout(p.s.ctx, 2*time.Second)
		p.once(ctx)
		cancel()
		select {
		case <-time.After(200 * time.Millisecond):
		case <-p.wake:
		case <-p.done:
			return
		case <-p.s.ctx.Done():
			return
		}
	}
}

func (p *seen) once(ctx context.Context) {
	st, err := p.s.attach(ctx, p.id)
	p.mu.Lock()
	doubt := p.doubt
	p.mu.Unlock()
	if err == nil && doubt && st.Condition == attempt.Unclaimed {
		var won bool
		if won, err = p.s.Bar(ctx, p.id); err == nil && !won {
			st, err = p.s.attach(ctx, p.id)
		}
	}
	if err != nil {
		return
	}
	p.mu.Lock()
	p.doubt = false
	p.mu.Unlock()
	p.take(st)
	for {
		p.mu.Lock()
		if len(p.queue) == 0 || p.over {
			p.mu.Unlock()
			return
		}
		next := p.queue[0]
		p.mu.Unlock()
		if _, err := p.s.signal(ctx, p.id, next); err != nil {
			return
		}
		p.mu.Lock()
		p.queue = p.queue[1:]
		p.mu.Unlock()
	}
}

func (s *stub) signal(ctx context.Context, id ID, sig signal) (there bool, err error) {
	return ask(ctx, s, fmt.Sprint("signal ", id, sig.sig), func(m *machine) (bool, error) {
		b := m.bodies[id]
		return b != nil && b.signal(sig.sig, sig.order), nil
	})
}

func (p *seen) take(st attempt.Status) {
	switch st.Condition {
	case attempt.Running:
	case attempt.Exited:
		p.finish(exec.Exit{Code: st.Code})
	case attempt.Signaled:
		p.finish(exec.Exit{Signal: st.Signal})
	default:
		p.finish(exec.Exit{Lost: true, Reason: st.Reason})
	}
}

func (p *seen) finish(exit exec.Exit) {
	p.mu.Lock()
	first := !p.over
	if first {
		p.over, p.exit = true, exit
		close(p.done)
	}
	p.mu.Unlock()
	if first {
		p.s.mu.Lock()
		delete(p.s.following, p.id)
		p.s.mu.Unlock()
	}
}

func (p *seen) Wait() exec.Exit { <-p.done; return p.exit }
func (p *seen) Detach()         { p.finish(exec.Exit{Detached: true}) }

// Signal stores a signal that cannot be delivered and delivers it later.
func (p *seen) Signal(sig syscall.Signal) error {
	one := signal{sig, p.s.ordered()}
	p.mu.Lock()
	over, kept := p.over, p.doubt || len(p.queue) > 0
	if !over && kept {
		p.queue = append(p.queue, one)
	}
	p.mu.Unlock()
	if over {
		return os.ErrProcessDone
	}
	if kept {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.s.ctx, 2*time.Second)
	defer cancel()
	there, err := p.s.signal(ctx, p.id, one)
	switch {
	case err != nil:
		p.mu.Lock()
		p.queue = append(p.queue, one)
		p.mu.Unlock()
		return nil
	case !there:
		return os.ErrProcessDone
	}
	return nil
}
