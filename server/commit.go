package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// metaDraining is the store's key for the drained state of a site.
const metaDraining = "draining"

// durable is the store of a server's loop; see package server/loop.
type durable struct{ *Server }

// Refuses implements loop.Store.
func (s durable) Refuses(now batch.Time) error { return s.disk.refuses(now, s.store) }

// Commit implements loop.Store.
func (s durable) Commit(fx *site.Effects, done func(error)) { done(s.commit(fx)) }

// Undo implements loop.Store.
func (s durable) Undo(why error) { s.broken = s.rebuild(why) }

// commit makes the changes of a turn durable; called by the loop.
func (s *Server) commit(fx *site.Effects) error {
	s.batch.Reset()
	for i := range fx.Writes {
		if err := put(&s.batch, &fx.Writes[i]); err != nil {
			return err
		}
	}
	if s.core.Draining() != s.draining {
		s.batch.SetMeta(metaDraining, fmt.Append(nil, s.core.Draining()))
	}
	if s.markSeen {
		s.batch.SetMeta(metaSeen, fmt.Append(nil, int64(s.seen())))
	}
	if err := s.putReserved(fx); err != nil {
		return err
	}
	if s.batch.Len() > 0 {
		if s.adopted {
			// A job's input must be durable before its record.
			if err := s.data.Sync(); err != nil {
				return err
			}
			s.adopted = false
		}
		if err := s.store.Commit(&s.batch); err != nil {
			return err
		}
		s.draining, s.agreements, s.markSeen = s.core.Draining(), s.core.Agreements(), false
	}
	s.windows = s.windows[:0]
	return nil
}

// put adds one record to a batch.
func put(b *store.Batch, w *site.Write) error {
	id := string(w.Record.ID)
	hot, err := json.Marshal(&w.Record)
	if err != nil {
		return fmt.Errorf("record of job %s: %w", id, err)
	}
	if w.Until != 0 {
		b.Bury(id, hot, int64(w.Until))
		return nil
	}
	b.Put(id, hot)
	if w.Dossier != nil {
		cold, err := json.Marshal(w.Dossier)
		if err != nil {
			return fmt.Errorf("dossier of job %s: %w", id, err)
		}
		b.PutCold(id, cold)
	}
	return nil
}

// outlet releases durable effects; called by the loop.
type outlet struct{ *Server }

// Order implements loop.Outlet. The loop waits as long as the batch system needs.
func (s outlet) Order(cmds []batch.Command) { s.order(context.Background(), cmds) }

// Claim implements loop.Outlet.
func (s outlet) Claim(attempt batch.Key) { s.spawn(func() { s.claim(s.life, attempt) }) }

// Send implements loop.Outlet.
func (s outlet) Send(m *site.Message) { s.outbox.send(*m) }

// Watch implements loop.Outlet.
func (s outlet) Watch(jobs []batch.JobID) { s.watchDependencies(jobs) }

// Discard implements loop.Outlet.
func (s outlet) Discard(job batch.JobID) { s.discard(job) }

// Written implements loop.Outlet.
func (s outlet) Written(w *site.Write) {
	if w.Ended() {
		s.keep(w.Record.ID, w.Record.Ended)
	}
	if w.Left() {
		s.dataUsed(w.Record.ID)
	}
	s.notify(&w.Record)
}

// order sends commands to the batch system; called by the loop.
func (s *Server) order(ctx context.Context, cmds []batch.Command) {
	if len(cmds) == 0 {
		return
	}
	err := s.system.Do(ctx, cmds)
	if err == nil {
		return
	}
	for _, refused := range refusals(err) {
		i := 0
		for i < len(cmds) && cmds[i].Key != refused.Key {
			i++
		}
		if i < len(cmds) && (cmds[i].Kind == batch.CmdSubmit || cmds[i].Kind == batch.CmdReserve &&
			s.dependent(refused.Key.Job)) {
			s.turns.Later(func() { s.rejected(refused.Key, refused) })
			continue
		}
		// The attempt has started or ended meanwhile, or was never there: its report follows, or is
		// not needed.
		s.log.Debug("batch system refused a command", "job", refused.Key.Job, "error", refused)
	}
}

// refusals returns the *batch.CommandErrors in an error of a batch system.
func refusals(err error) []*batch.CommandError {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var all []*batch.CommandError
		for _, e := range joined.Unwrap() {
			all = append(all, refusals(e)...)
		}
		return all
	}
	if one, ok := errors.AsType[*batch.CommandError](err); ok {
		return []*batch.CommandError{one}
	}
	return nil
}

// rejected ends a job that the batch system refused; called by the loop.
func (s *Server) rejected(key batch.Key, why error) {
	s.log.Warn("batch system refused a job", "job", key.Job, "error", why)
	_, err := s.core.Ended(s.now(), key, batch.Outcome{End: batch.EndStartFailed, Reason: why.Error()}, nil)
	if err != nil {
		s.log.Error("ending a refused job failed", "job", key.Job, "error", err)
	}
}

// dossier returns the dossier of a job, from memory or from the store.
func (s *Server) dossier(j *site.Job) (*site.Dossier, error) {
	if j.Dossier != nil {
		return j.Dossier, nil
	}
	cold, err := s.store.Cold(string(j.ID))
	if err != nil {
		return nil, fmt.Errorf("dossier of job %s: %w", j.ID, err)
	}
	d := &site.Dossier{}
	if err := json.Unmarshal(cold, d); err != nil {
		return nil, fmt.Errorf("dossier of job %s: %w", j.ID, err)
	}
	return d, nil
}

// recall loads a job's tombstone from the store into the core, unless the core knows the job;
// called by the loop before it asks the core about a job.
func (s *Server) recall(id batch.JobID) error {
	if s.core.Knows(id) {
		return nil
	}
	data, buried, err := s.store.Tombstone(string(id))
	if err != nil || !buried {
		return err
	}
	var r site.Record
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("tombstone of job %s: %w", id, err)
	}
	return s.core.Recall(&r)
}
