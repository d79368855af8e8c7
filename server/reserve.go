package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// reservedPrefix begins the store keys of reservations, which are among those of jobs.
const reservedPrefix = "reservation/"

// metaAgreements is the store's key for the outcomes of agreements.
const metaAgreements = "agreements"

// rounds is how often a booking or an agreement is retried if its slot is lost between the plan's
// answer and the command.
const bookingTries = 3

// noReservations returns the refusal of a batch system that accepts no reservations from this
// server; nil if it does.
func (s *Server) noReservations() error {
	if s.system.Caps().Reservations {
		return nil
	}
	p := &problem.Problem{
		Reason: problem.NoReservations, Message: fmt.Sprintf("site %s (%s) takes no reservations", s.cfg.Name,
			s.cfg.policyName()),
		Hint: "use a site with a planning policy; drover sites shows the policies",
	}
	if kind := s.cfg.external(); kind != nil {
		p.Hint = "under " + kind.title + " reservations need operator rights, which this server does not have"
	}
	return p
}

// OfferReservation returns what a booking would get, or has got.
func (s *Server) OfferReservation(ctx context.Context, b site.Booking) (r site.Reservation, err error) {
	return s.book(ctx, b, s.see, func(now batch.Time, b site.Booking, p site.Planner) (site.Reservation, error) {
		return s.core.OfferReservation(now, b, p)
	})
}

// BookReservation reserves processors.
func (s *Server) BookReservation(ctx context.Context, b site.Booking) (site.Reservation, error) {
	return s.book(ctx, b, s.do, s.setAside)
}

// book checks a booking and processes it on the loop.
func (s *Server) book(
	ctx context.Context, b site.Booking, loop func(context.Context, func()) error,
	work func(batch.Time, site.Booking, site.Planner) (site.Reservation, error),
) (r site.Reservation, err error) {
	if s.leaving.Load() {
		return r, errStopping
	}
	if err := cmp.Or(b.Validate(), s.noReservations()); err != nil {
		return r, err
	}
	var failed error
	err = loop(ctx, func() {
		if failed = s.checkAge(b.ID); failed != nil {
			return
		}
		p := planner{ctx: ctx, server: s}
		r, failed = work(s.now(), b, &p)
		failed = p.why(failed)
	})
	return r, errors.Join(err, failed)
}

// setAside also books at the batch system, which may have lost the slot since its answer; called by
// the loop.
func (s *Server) setAside(now batch.Time, b site.Booking, p site.Planner) (site.Reservation, error) {
	for left := bookingTries; ; left-- {
		r, err := s.core.Book(now, b, p)
		plans := s.core.Plans(nil)
		if err != nil || len(plans) == 0 {
			return r, err
		}
		err = s.system.Do(s.life, plans)
		if err == nil {
			s.windows = append(s.windows, site.WindowKey(b.ID))
			s.log.Info("reserved", "reservation", b.ID, "width", r.Width, "start", stamp(r.Start), "end", stamp(r.End))
			return r, nil
		}
		s.core.Unbook(b.ID)
		if refused := refusals(err); left == 1 || len(refused) == 0 || refused[0].Reason != exec.ReasonNoRoom {
			return site.Reservation{}, fmt.Errorf("reserve processors: %w", err)
		}
		now = s.now()
	}
}

// agree submits a job with an agreement to the batch system. If the plan has changed since its
// answer, the job is forgotten and the core asked again; called by the loop.
func (s *Server) agree(
	j site.Job, plans []batch.Command, again func() (site.Job, []batch.Command, error),
) (site.Job, []batch.Command, error) {
	for left := bookingTries; ; left-- {
		err := s.system.Do(s.life, plans)
		if err == nil {
			return j, plans, nil
		}
		s.core.Revoke(j.ID)
		if refused := refusals(err); left == 1 || len(refused) == 0 || refused[0].Reason != exec.ReasonNoRoom {
			return site.Job{}, nil, fmt.Errorf("submit a job with an agreement: %w", err)
		}
		if j, plans, err = again(); err != nil {
			return site.Job{}, nil, err
		}
	}
}

// CancelReservation cancels a reservation.
func (s *Server) CancelReservation(ctx context.Context, name string) (r site.Reservation, err error) {
	if s.leaving.Load() {
		return r, errStopping
	}
	var failed error
	err = s.do(ctx, func() { r, failed = s.core.CancelReservation(s.now(), batch.JobID(name)) })
	return r, errors.Join(err, failed)
}

// Reservations returns reservations, ordered by their starts.
func (s *Server) Reservations(ctx context.Context, f site.ReservationFilter) (list []site.Reservation, err error) {
	err = s.see(ctx, func() { list = s.core.Reservations(s.now(), f) })
	return list, err
}

// EstimateInside implements site.ReservationPlanner.
func (p *planner) EstimateInside(_ batch.Time, reservation batch.JobID, asks []batch.Ask, out []batch.Estimate) bool {
	inside, able := p.server.system.(interface {
		EstimateInside(ctx context.Context, reservation batch.Key, asks []batch.Ask) ([]batch.Estimate, bool, error)
	})
	if !able {
		return false
	}
	ests, ok, err := inside.EstimateInside(p.ctx, site.WindowKey(reservation), asks)
	if err != nil {
		p.err = err
		return false
	}
	copy(out, ests)
	return ok
}

// putReserved adds the changes of reservations and agreements to the turn's transaction; called by
// the loop.
func (s *Server) putReserved(fx *site.Effects) error {
	for i := range fx.Reserved {
		r := &fx.Reserved[i]
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("record of reservation %s: %w", r.ID, err)
		}
		s.batch.Put(reservedPrefix+string(r.ID), text)
	}
	for _, id := range fx.Unreserved {
		s.batch.Delete(reservedPrefix + string(id))
	}
	if a := s.core.Agreements(); a != s.agreements {
		text, err := json.Marshal(a)
		if err != nil {
			return fmt.Errorf("counts of agreements: %w", err)
		}
		s.batch.SetMeta(metaAgreements, text)
	}
	return nil
}

// reservedIn decodes a record of the store if it is a reservation.
func reservedIn(id string, hot []byte, list []site.Reservation) (_ []site.Reservation, is bool, err error) {
	if !strings.HasPrefix(id, reservedPrefix) {
		return list, false, nil
	}
	var r site.Reservation
	if err := json.Unmarshal(hot, &r); err != nil {
		return list, true, fmt.Errorf("record of %s: %w", id, err)
	}
	return append(list, r), true, nil
}

// restoreReservations restores the core's reservations and counts of agreements from the store.
func (s *Server) restoreReservations(core *site.Site, list []site.Reservation) error {
	if err := core.RestoreReservations(list); err != nil {
		return err
	}
	text, err := s.store.Meta(metaAgreements)
	var a site.Agreements
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return fmt.Errorf("read the store: %w", err)
	default:
		if err := json.Unmarshal(text, &a); err != nil {
			return fmt.Errorf("counts of agreements: %w", err)
		}
	}
	core.RestoreAgreements(a)
	s.agreements = a
	return nil
}

// openWindows returns the reservations that are not over, for a new batch system.
func (s *Server) openWindows(core *site.Site) []exec.Window {
	var out []exec.Window
	for _, r := range core.Reservations(instant(time.Now()), site.ReservationFilter{Active: true}) {
		out = append(out, exec.Window{Key: site.WindowKey(r.ID), Job: r.Spec()})
	}
	return out
}

// stamp formats an instant for people.
func stamp(t batch.Time) string { return time.UnixMicro(int64(t)).UTC().Format(time.RFC3339) }
