package pool

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// The configuration of a world's pool. The margin covers a clock drift of 9%.
const (
	worldLease  = 6 * time.Second
	worldMargin = worldLease / 10
	worldGrace  = 2 * time.Second
)

// modelAttempt is the world's record of an attempt. The world's mu guards its fields.
type modelAttempt struct {
	key        batch.Key
	how        batch.Launch
	allocation []batch.NodeAllocation
	ranks      int
	obeys      bool
	share      batch.Share // requested last
	proc       *Attempt    // in this life of the server
	over       bool        // as reported
	life       int         // of the server that got the report
}

// site is the server of a world.
type site struct {
	w      *world
	order  []*modelAttempt // in launch order
	lives  int
	pool   *Pool
	stubs  []*stub
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines that launch or wait for an end, in this process
	undo   sync.WaitGroup // faults that end on their own, such as partitions
	jobs   int
}

func newSite(p plan) *site {
	w := &world{seed: p.Seed, attempts: map[batch.Key]*modelAttempt{}}
	for i, drift := range p.Drift {
		w.machines = append(w.machines, &machine{
			w: w, index: i, drift: float64(drift) / 1000, daemon: true, bodies: map[ID]*body{}, barred: map[ID]bool{},
		})
	}
	return &site{w: w}
}

// open starts the server.
func (s *site) open() error {
	s.lives++
	cfg := Config{Lease: worldLease, Margin: worldMargin, Grace: worldGrace}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.stubs = cancel, nil
	s.w.mu.Lock()
	s.w.reported = nil
	for _, m := range s.w.machines {
		stub := newStub(ctx, m, s.lives)
		s.stubs = append(s.stubs, stub)
		cfg.Names, cfg.Nodes = append(cfg.Names, fmt.Sprint("n", m.index)), append(cfg.Nodes, stub)
		s.w.reported = append(s.w.reported, true)
	}
	s.w.mu.Unlock()
	p, err := New(cfg)
	if err != nil {
		return err
	}
	s.pool = p
	p.Follow(func(node int32, up bool) {
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		s.w.reported[node] = up
		if up {
			s.w.isUp(s.w.machines[node], s.lives)
		}
	})
	for _, a := range s.order {
		s.w.mu.Lock()
		over := a.over
		s.w.mu.Unlock()
		if !over {
			s.work.Go(func() { s.recover(p, a) })
		}
	}
	return nil
}

// close kills the server. Sent messages continue.
func (s *site) close() {
	s.pool.Close()
	s.cancel()
	s.work.Wait()
	for _, stub := range s.stubs {
		stub.work.Wait()
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, a := range s.order {
		a.proc = nil
	}
}

func (s *site) recover(p *Pool, a *modelAttempt) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	st, proc, err := p.Recover(ctx, a.key, a.how, a.allocation)
	switch {
	case err != nil: // the server was killed
	case proc != nil:
		s.follow(p, a, proc)
	case st.Condition == attempt.Barred:
		s.over(a, exec.Exit{}, exec.ErrNeverRan)
	default:
		s.over(a, exec.Exit{Code: st.Code, Signal: st.Signal, Lost: st.Condition == attempt.Lost, Reason: st.Reason},
			nil)
	}
}

// launch launches a new attempt.
func (s *site) launch(job batch.JobID, number uint32, how batch.Launch, allocation []batch.NodeAllocation, obeys bool) {
	a := &modelAttempt{
		key: batch.Key{Job: job, Epoch: 1, Attempt: number}, how: how, allocation: allocation, obeys: obeys,
		share: batch.One,
	}
	p := s.pool
	parts, err := p.split(how, allocation)
	if err != nil {
		return
	}
	a.ranks = len(parts)
	s.w.mu.Lock()
	s.w.attempts[a.key] = a
	s.order = append(s.order, a)
	s.w.mu.Unlock()
	s.work.Go(func() {
		got, err := p.Launch(exec.Spec{
			Key: a.key, Launch: how, Allocation: allocation, Shape: batch.Shape{Width: processors(allocation)},
		})
		if err != nil {
			s.over(a, exec.Exit{}, err)
			return
		}
		s.follow(p, a, got.(*Attempt))
	})
}

// follow waits for an end. It first applies the share and signals that were requested before
// the process existed, as a policy would.
func (s *site) follow(p *Pool, a *modelAttempt, proc *Attempt) {
	s.w.mu.Lock()
	if s.pool == p {
		a.proc = proc
	}
	share := a.share
	s.w.mu.Unlock()
	if share != batch.One {
		s.setShares(a, proc, share)
	}
	if exit := proc.Wait(); !exit.Detached {
		s.over(a, exit, nil)
	}
}

func (s *site) setShares(a *modelAttempt, proc *Attempt, share batch.Share) {
	allocation := append([]batch.NodeAllocation(nil), a.allocation...)
	for i := range allocation {
		allocation[i].Share = share
	}
	if err := proc.SetShares(allocation); err != nil {
		s.w.mu.Lock()
		s.w.complain("shares of %v: %v", a.key, err)
		s.w.mu.Unlock()
	}
}

// over handles an end. It restarts an attempt that was lost or never ran, on another machine
// if possible.
func (s *site) over(a *modelAttempt, exit exec.Exit, err error) {
	s.w.mu.Lock()
	a.over, a.proc, a.life = true, nil, s.lives
	s.w.ended(a, exit, err)
	again := (exit.Lost || err != nil) && a.key.Attempt < 4 && s.pool.ctx.Err() == nil
	s.w.mu.Unlock()
	if again {
		allocation := append([]batch.NodeAllocation(nil), a.allocation...)
		for i := range allocation {
			allocation[i].Node = (allocation[i].Node + 1) % int32(len(s.w.machines))
		}
		s.launch(a.key.Job, a.key.Attempt+1, a.how, allocation, a.obeys)
	}
}

// do executes a step.
func (s *site) do(st step) error {
	w := s.w
	sleep(time.Duration(st.After)*time.Millisecond + 7*time.Microsecond)
	switch st.Do {
	case "launch":
		var allocation []batch.NodeAllocation
		for n, processors := range st.Places {
			if processors > 0 {
				allocation = append(allocation, on(int32(n), int32(processors)))
			}
		}
		s.jobs++
		how := []batch.Launch{batch.LaunchOnce, batch.LaunchPerNode, batch.LaunchPerTask}[st.How]
		s.launch(batch.JobID(fmt.Sprint("j", s.jobs)), 1, how, allocation, st.Obeys)
	case "end", "signal", "share":
		s.attemptStep(st)
	case "server":
		w.mu.Lock()
		for _, m := range w.machines {
			m.disturbed = true
		}
		w.mu.Unlock()
		s.close()
		sleep(time.Duration(st.For) * time.Millisecond)
		return s.open()
	default:
		m := w.machines[st.Node]
		w.mu.Lock()
		undo := m.disturb(st)
		w.mu.Unlock()
		s.undo.Go(func() {
			sleep(time.Duration(st.For) * time.Millisecond)
			w.mu.Lock()
			defer w.mu.Unlock()
			undo()
		})
	}
	return nil
}

// attemptStep executes a step about a launched attempt.
func (s *site) attemptStep(st step) {
	w := s.w
	w.mu.Lock()
	if len(s.order) == 0 {
		w.mu.Unlock()
		return
	}
	a := s.order[len(s.order)-1-st.Attempt%len(s.order)]
	proc := a.proc
	switch st.Do {
	case "end":
		exits := []exec.Exit{
			{},
			{},
			{},
			{Code: batch.CheckpointStatus},
			{Code: batch.CheckpointStatus},
			{Code: 3},
			{Code: 4},
			{Signal: syscall.SIGSEGV},
		}
		for _, m := range w.machines {
			if b := m.bodies[ID{a.key, int32(st.Rank % a.ranks)}]; b != nil {
				b.end(exits[st.Value])
			}
		}
	case "share":
		if proc != nil {
			a.share = batch.One / batch.Share(2+st.Value)
		}
	}
	share := a.share
	w.mu.Unlock()
	switch {
	case proc == nil:
	case st.Do == "signal":
		_ = proc.Signal([]syscall.Signal{
			syscall.SIGSTOP, syscall.SIGSTOP, syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT,
			syscall.SIGTERM, syscall.SIGKILL,
		}[st.Value])
	case st.Do == "share":
		s.setShares(a, proc, share)
	}
}

// disturb disturbs a machine and returns a function that undoes it. The caller holds mu.
func (m *machine) disturb(st step) (undo func()) {
	m.disturbed = true
	switch st.Do {
	case "cut":
		if st.Ways&1 != 0 {
			m.w.setCut(&m.to, true, st.Holds)
		}
		if st.Ways&2 != 0 {
			m.w.setCut(&m.from, true, st.Holds)
		}
	case "slow":
		m.slow = 1500 * time.Millisecond
	case "daemon":
		m.daemon = false
	case "supervisor":
		m.crash()
	case "immortal":
		m.immortal = true
	case "host":
		m.daemon = false
		m.crash()
	}
	return m.heal
}

// heal undoes all disturbances of a machine. The caller holds mu.
func (m *machine) heal() {
	m.w.setCut(&m.to, false, false)
	m.w.setCut(&m.from, false, false)
	m.slow, m.daemon = 0, true
}
