package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/loop"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// restoreCore builds a core from the records in the store.
func (s *Server) restoreCore() (*site.Site, error) {
	core, err := site.New(s.about)
	if err != nil {
		return nil, err
	}
	var records []site.Record
	var reserved []site.Reservation
	err = s.store.Load(func(id string, hot []byte) error {
		var is bool
		if reserved, is, err = reservedIn(id, hot, reserved); is || err != nil {
			return err
		}
		var r site.Record
		if err := json.Unmarshal(hot, &r); err != nil {
			return fmt.Errorf("record of job %s: %w", id, err)
		}
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the store: %w", err)
	}
	if err := core.Restore(records); err != nil {
		return nil, err
	}
	if err := s.restoreReservations(core, reserved); err != nil {
		return nil, err
	}
	draining, err := s.store.Meta(metaDraining)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the store: %w", err)
	}
	s.draining = string(draining) == "true"
	core.SetDraining(s.draining)
	return core, nil
}

// boot restores the core and the batch system after a restart and adopts running attempts. The
// caller passes the result to resume.
func (s *Server) boot() ([]site.RecoveredAttempt, error) {
	core, err := s.restoreCore()
	if err != nil {
		return nil, err
	}
	s.core = core
	if err := checkMisfits(core); err != nil {
		return nil, err
	}
	if err := s.checkRunner(core); err != nil {
		return nil, err
	}
	keys := core.Unsettled()
	attempts := make([]site.RecoveredAttempt, len(keys))
	var adopted []exec.Adopted
	var outside []external.Adopted
	for i, key := range keys {
		j, err := core.Job(key.Job)
		if err != nil {
			return nil, err
		}
		if err := s.relocate(&j); err != nil {
			return nil, err
		}
		recovered, process, err := s.recoverAttempt(s.life, &j)
		if err != nil {
			return nil, fmt.Errorf("recover job %s: %w", key.Job, err)
		}
		if attempts[i] = recovered; process != nil {
			s.continueStopped(&j, process)
			adopted = append(adopted, s.adoption(&j, &attempts[i], process))
		}
		if s.cluster != nil && !recovered.Won {
			outside = append(outside, external.Adopted{Key: key, Job: j.Spec()})
		}
	}
	windows := s.openWindows(core)
	if s.cluster != nil {
		if len(windows) > 0 {
			return nil,
				fmt.Errorf("configuration: %d reservations are still open, and %s does not accept any from this "+
					"server: "+
					"cancel them first, under the batch system with which they were booked", len(windows),
					s.cluster.Title())
		}
		return attempts, s.openExternal(outside)
	}
	embeddedPolicy, err := policy.New(s.cfg.Policy.Name, s.about.Platform, s.cfg.Policy.Settings)
	if err != nil {
		return nil, err
	}
	teachRuntimes(embeddedPolicy, core)
	embedded, err := exec.New(exec.Config{
		Policy: embeddedPolicy, Platform: s.about.Platform, Grace: micros(s.cfg.Grace),
		Forecaster: func() exec.Forecaster { return &forecast.Forecaster{} },
		Logger:     s.log.Named("exec"), Programs: programs{s}, Launcher: launcher{s}, Adopt: adopted, Windows: windows,
		Hosts: s.cfg.hostsOf(), Measurements: s.measurements(),
		// The policy decides whether a paused job shares processors with the job that paused it.
		Fractional: s.cfg.traits().Chooses(),
	})
	if err != nil {
		return nil, err // not a nil *exec.System
	}
	s.system = embedded
	if f, follows := s.runner.(nodeFollower); follows {
		f.follow(s.life, embedded)
	}
	return attempts, nil
}

// checkMisfits refuses a configuration under which waiting jobs could never run. It does not fail
// them, because the change may be a mistake.
func checkMisfits(core *site.Site) error {
	const shown = 3
	list, n := core.Unrunnable(shown)
	if n == 0 {
		return nil
	}
	var text strings.Builder
	for _, m := range list {
		fmt.Fprintf(&text, "; job %s: %s", m.Job.ID, m.Why)
	}
	if n > shown {
		fmt.Fprintf(&text, "; and %d more", n-shown)
	}
	return fmt.Errorf("configuration: %d waiting jobs could never run with it%s; "+
		"start with the nodes and services that they need, then drain the site or cancel the jobs",
		n, text.String())
}

// continueStopped continues a job that the server had paused before the restart: the
// pause is not on record, and an adopted job counts as running. The policy pauses it again
// if necessary.
func (s *Server) continueStopped(j *site.Job, process exec.Launched) {
	if err := process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.log.Warn("resume of a possibly stopped job failed", "job", j.ID, "error", err)
	}
}

// resume continues the core's work, removes stray directories and starts the retention of finished
// jobs.
func (s *Server) resume(attempts []site.RecoveredAttempt) error {
	if err := s.openClock(); err != nil {
		return err
	}
	s.markSeen = true
	if err := s.core.Recover(s.now(), attempts); err != nil {
		return err
	}
	s.turns = loop.New(s.core, durable{s}, outlet{s})
	if err := s.turn(nil); err != nil {
		return err
	}
	if err := s.releaseOldData(); err != nil {
		return err
	}
	s.keepFinished()
	stray, err := s.data.Clear(s.core.Knows)
	if err != nil {
		return err
	}
	l := s.core.Load()
	if l.Waiting+l.Running+l.Incoming+len(attempts)+stray == 0 {
		return nil
	}
	s.log.Info("state restored", "waiting", l.Waiting, "running", l.Running, "incoming", l.Incoming,
		"had_started", len(attempts), "stray_directories", stray)
	return nil
}

// adoption converts a running job for the batch system.
func (s *Server) adoption(j *site.Job, f *site.RecoveredAttempt, process exec.Launched) exec.Adopted {
	places := f.Found.Allocation
	if j.Run != nil && len(j.Run.Places) > 0 {
		places = j.Run.Places
	}
	f.Found.Allocation, f.Found.Nodes = places, s.nodesOf(places)
	return exec.Adopted{
		Key: j.Key(), Job: j.Spec(), Started: f.Found.Started, Allocation: places, Process: process,
		Into:       site.WindowKey(j.Needs.Into),
		Checkpoint: s.checkpointOf(j),
	}
}

// nodesOf returns the names of an allocation's nodes, each once.
func (s *Server) nodesOf(places []batch.NodeAllocation) []string {
	var names []string
	for i := range places {
		n := int(places[i].Node)
		if n < 0 || n >= len(s.about.Platform.Nodes) {
			continue // the batch system reports it
		}
		if name := s.about.Platform.Nodes[n].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// rebuild restores the core from the store after a turn or a launch that failed on a full disk, as
// if the server had been killed and restarted, but the batch system keeps running. The core's
// resulting changes become durable with the next turn that commits. Any other failure ends the
// server.
func (s *Server) rebuild(why error) error {
	if !isFull(why) {
		return why
	}
	s.log.Error("disk full; new work is refused", "error", why)
	s.disk.failed(s.now())
	core, err := s.restoreCore()
	if err != nil {
		return errors.Join(why, err)
	}
	s.core = core
	s.turns.Replace(core)
	r := loop.Rebuild{
		Core: core, System: s.system, Voided: s.voided,
		Recover: func(j *site.Job) (site.RecoveredAttempt, error) {
			a, _, err := s.recoverAttempt(s.life, j)
			return a, err
		},
		Order: func(cmds []batch.Command) {
			for _, key := range s.windows { // their bookings were never confirmed
				cmds = append(cmds, batch.Command{Kind: batch.CmdCancel, Key: key})
			}
			s.windows = nil
			s.order(s.life, cmds)
		},
	}
	err = r.Run(s.life, s.now())
	s.voided = r.Voided
	if err != nil {
		return errors.Join(why, err)
	}
	return nil
}
