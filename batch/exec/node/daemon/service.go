package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/rpc"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// service is the rpc.Service of a daemon.
type service struct{ *Daemon }

// Describe is rpc.Service.Describe.
func (s service) Describe() node.Description {
	d := node.Description{
		Name: s.cfg.Name, Processors: s.cfg.Processors, Memory: s.cfg.Memory, Site: s.site(),
		Tasks: len(s.host.Running()), Version: s.cfg.Version,
	}
	for _, o := range s.host.Offers() {
		d.Offers = append(d.Offers, node.Offer{Ability: o.Ability.String(), Way: o.Way.String(), Why: o.Why})
	}
	return d
}

// Renew is rpc.Service.Renew.
func (s service) Renew(ctx context.Context, c node.Claimant, t attempt.Token, d time.Duration) (node.Renewal, error) {
	if c.Site == "" || c.ID == "" {
		return node.Renewal{}, invalid("claimant: accepted: a site and the ID of a data directory")
	}
	if d < supervisor.ShortestLease || d > supervisor.LongestLease {
		return node.Renewal{}, invalid(fmt.Sprintf("duration: accepted: %v to %v", supervisor.ShortestLease,
			supervisor.LongestLease))
	}
	if err := s.checkName(c.Node); err != nil {
		return node.Renewal{}, err
	}
	if err := s.claim(Owner{c.Site, c.ID}); err != nil {
		return node.Renewal{}, err
	}
	next, held, err := s.host.Renew(ctx, t, d)
	if err != nil {
		return node.Renewal{}, err
	}
	r := node.Renewal{Next: next, Held: held}
	if err := s.host.Fit(); err != nil {
		r.Unfit = err.Error()
	}
	return r, nil
}

// admit refuses every claimant but the owner, and an owner that means another node.
func (s service) admit(c node.Claimant) error {
	if err := s.checkName(c.Node); err != nil {
		return err
	}
	return s.serves(Owner{c.Site, c.ID})
}

// Launch is rpc.Service.Launch.
func (s service) Launch(ctx context.Context, c node.Claimant, t node.TaskSpec) (attempt.Status, error) {
	if err := s.admit(c); err != nil {
		return attempt.Status{}, err
	}
	for _, path := range []string{t.Spec.Dir, t.Spec.Stdout, t.Spec.Stderr} {
		if path != "" && !filepath.IsAbs(path) {
			return attempt.Status{}, invalid("directory and outputs: accepted: absolute paths")
		}
	}
	p, err := s.host.Launch(ctx, t)
	switch {
	case errors.Is(err, supervisor.ErrBarred):
		return attempt.Status{Condition: attempt.Barred}, nil
	case transient(err):
		return attempt.Status{}, err
	case errors.Is(err, exec.ErrNeverRan):
		reason := strings.TrimPrefix(err.Error(), exec.ErrNeverRan.Error()+": ")
		return attempt.Status{Condition: attempt.NeverRan, Reason: reason}, nil
	case err != nil:
		st := attempt.Status{Condition: attempt.Failed, Reason: err.Error()}
		if e, ok := errors.AsType[*exec.ExecuteError](err); ok {
			st.Code = int(e.Errno)
		}
		return st, nil
	}
	st := p.Status()
	if st.Condition == 0 {
		return attempt.Status{}, supervisor.ErrClosed
	}
	return st, nil
}

// transient reports whether a failed launch says nothing about the task.
func transient(err error) bool {
	var invalid *node.InvalidError
	return errors.Is(err, attempt.ErrNoLease) || errors.Is(err, supervisor.ErrClosed) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.As(err, &invalid)
}

// Attach is rpc.Service.Attach.
func (s service) Attach(ctx context.Context, c node.Claimant, id node.ID) (attempt.Status, error) {
	if err := s.admit(c); err != nil {
		return attempt.Status{}, err
	}
	st, _, err := s.host.Attach(ctx, id)
	return st, err
}

// Bar is rpc.Service.Bar.
func (s service) Bar(c node.Claimant, id node.ID) (won bool, err error) {
	if err := s.admit(c); err != nil {
		return false, err
	}
	return s.host.Bar(id)
}

// Signal is rpc.Service.Signal.
func (s service) Signal(c node.Claimant, id node.ID, sig syscall.Signal, seq node.Sequence) error {
	if err := s.admit(c); err != nil {
		return err
	}
	if sig < 1 || sig > 64 {
		return invalid("signal: accepted: 1 to 64")
	}
	p := s.host.Find(id)
	if p == nil {
		return os.ErrProcessDone
	}
	return s.sequencer.apply(id, seq, lastSignal, func() error { return p.Signal(sig) })
}

// SetShares is rpc.Service.SetShares.
func (s service) SetShares(c node.Claimant, all []node.Share, seq node.Sequence) ([]node.Refusal, error) {
	if err := s.admit(c); err != nil {
		return nil, err
	}
	var refused []node.Refusal
	var first error
	for _, share := range all {
		p := s.host.Find(share.ID)
		if p == nil {
			continue
		}
		err := s.sequencer.apply(share.ID, seq, lastShares, func() error {
			_, err := p.Share(share.CPU)
			return err
		})
		switch {
		case errors.Is(err, node.ErrStale):
			return nil, err
		case err != nil && !errors.Is(err, os.ErrProcessDone):
			if first == nil {
				first = err
			}
			refused = append(refused, node.Refusal{ID: share.ID, Reason: node.PublicMessage(err)})
		}
	}
	if first != nil { // one line: a controller that has vanished refuses the shares of all tasks
		s.log.Warn("set shares failed", "tasks", len(refused), "first", first)
	}
	return refused, nil
}

// Watch is rpc.Service.Watch.
func (s service) Watch(c node.Claimant, use time.Duration) (rpc.Watch, error) {
	if err := s.admit(c); err != nil {
		return nil, err
	}
	w := s.watchers.add(use, s.measure)
	w.number = s.sequencer.begin()
	return w, nil
}

// measure measures all running tasks.
func (s service) measure() []node.Measurement {
	var all []node.Measurement
	for _, p := range s.host.Running() {
		u, err := p.Use()
		waited, unknown := p.Waited()
		if unknown != nil {
			waited = 0
		}
		if err == nil {
			all = append(all, node.Measurement{ID: p.ID(), Use: u, Waited: waited})
		} else if !errors.Is(err, os.ErrProcessDone) {
			s.log.Debug("measurement failed", "task", p.ID(), "error", err)
		}
	}
	return all
}

func invalid(text string) error { return &node.InvalidError{Err: errors.New(text)} }
