package slurm

import (
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// DefaultParting is that of Config: an attempt looks every few seconds whether it is to
// stop, a file of NFS may show a minute late, and programs take their time to end.
const DefaultParting = 90 * time.Second

// givenUp says whether Slurm's word means that it has lost sight of a node, and of what
// runs there: nobody has seen it end.
func givenUp(e *Ended) bool {
	switch e.State {
	case "NODE_FAIL", "BOOT_FAIL", "REVOKED":
		return true
	}
	return false
}

// part says whether an attempt that has begun, and that Slurm has given up, can be said
// to be lost. Its program may run on where Slurm does not see it, and another attempt
// beside it: so it is told to stop, and waited for until it has written its end, or for
// as long as one that hears of it may take.
//
//	Slurm: NODE_FAIL ──▶ Stop ──▶ it has written its end ────▶ lost, and over
//	                          └─▶ nothing within Parting ────▶ lost; it may run on until
//	                                                           its node hears of it
func (s *System) part(g gone, t Testimony) bool {
	if s.cfg.Witness == nil || t.Began.IsZero() || !t.Ended.IsZero() {
		return true
	}
	if err := s.cfg.Witness.Stop(g.key); err != nil {
		s.log.Error("an attempt that Slurm has given up is to stop, and cannot be told", "job", g.key.Job, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[g.key]
	if a == nil {
		return true
	}
	now := time.Now()
	if a.parted.IsZero() {
		a.parted = now
		s.log.Error("Slurm has given up an attempt that has begun: it is told to stop, and waited for",
			"job", g.key.Job, "attempt", g.key.Attempt, "slurm", g.id, "nodes", a.nodes, "at_most", s.cfg.Parting)
	}
	if now.Sub(a.parted) < s.cfg.Parting {
		return false
	}
	a.astray = true
	s.log.Error("an attempt that Slurm has given up does not say that it has stopped: if its node is not dead it may run on, until it hears of it",
		"job", g.key.Job, "attempt", g.key.Attempt, "slurm", g.id, "nodes", a.nodes)
	return true
}

// stopped notes the word of an attempt that was told to stop, and has. Called with mu
// held.
func (s *System) stopped(key batch.Key, by string) {
	if a := s.attempts[key]; a != nil && !a.astray {
		s.log.Info("an attempt that Slurm had given up has stopped", "job", key.Job, "attempt", key.Attempt, "by", by)
		return
	}
	s.log.Error("an attempt that was given up for lost has run on until now: it has stopped",
		"job", key.Job, "epoch", key.Epoch, "attempt", key.Attempt, "by", by)
}
