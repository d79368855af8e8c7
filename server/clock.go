package server

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// metaSeen is the store's key for how far a server has seen time pass.
const metaSeen = "seen"

// clock compares three clocks. The core's begins with the host's clock when the server starts, and is
// monotonic from there on. The host's clock can be set at any time. The third counts the time that
// servers of this site have run, and at most mostAway between two of them, so that records never expire
// because a clock jumped.
//
//	host    ────────┐ set ahead by 31 days      ┌──── corrected
//	                └───────────────────────────┘
//	core    ────────┘ from the next start on, until the start after the correction
//	seen    ──────────────────────────────────────────▶ never jumps ahead, never ahead of the core's
type clock struct {
	lag  batch.Duration // of seen behind the core's clock; the same for the life of a server
	last time.Duration  // offset of the host's clock when housekeep looked last
}

// openClock reads how far the last server saw time pass; called before the loop runs.
func (s *Server) openClock() error {
	text, err := s.store.Meta(metaSeen)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the first server of the site
	}
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	seen, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("read the store: %s: %w", metaSeen, err)
	}
	s.clock.lag = min(max(s.now().Sub(batch.Time(seen))-mostAway, 0), mostLag)
	return nil
}

const (
	// mostAway is how long a site can be without a server before a jump of the clock is assumed.
	mostAway = 24 * batch.Hour
	// mostLag bounds how much longer than usual records are kept.
	mostLag = 366 * 24 * batch.Hour
)

// seen returns the time that counts for the age of records.
func (s *Server) seen() batch.Time { return s.now().Add(-s.clock.lag) }

// checkAge checks the age of an ID from outside.
func (s *Server) checkAge(id batch.JobID) error { return s.clock.checkAge(s.now(), time.Now(), id) }

// checkAge checks the age of an ID at a time of the core and of the host. It may be as old as the records
// that are kept, and as young as one of the present clocks allows: the core's can be behind until the
// next start.
func (c *clock) checkAge(now batch.Time, host time.Time, id batch.JobID) error {
	return site.CheckAge(now.Add(-c.lag), max(now, instant(host)), id)
}

// leastStep is the least difference between clocks that is reported. Clocks are adjusted slowly by less.
const leastStep = 2 * time.Second

// offset returns how far the host's clock is ahead of the core's; 0 below leastStep.
func offset(now batch.Time, host time.Time) time.Duration {
	ahead := time.Duration(instant(host).Sub(now)) * time.Microsecond
	if ahead.Abs() < leastStep {
		return 0
	}
	return ahead
}

// step returns by how much the host's clock was set since the last call.
func (c *clock) step(now batch.Time, host time.Time) time.Duration {
	is := offset(now, host)
	by := is - c.last
	if by.Abs() < leastStep {
		return 0
	}
	c.last = is
	return by
}

// watchClock logs steps of the host's clock; called by housekeep.
func (s *Server) watchClock() {
	if by := s.clock.step(s.now(), time.Now()); by != 0 {
		s.log.Warn("clocks of the host and the server have moved apart", "by", by.Round(time.Millisecond),
			"ahead_of_the_server", s.clock.last.Round(time.Millisecond))
	}
}
