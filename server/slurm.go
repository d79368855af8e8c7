package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/batch/slurm"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// inspectPatience is how long a server that starts waits for Slurm, if it has been
// here before.
const inspectPatience = 30 * time.Second

// modelSlack is for how many jobs that wait one more may come before the model of
// Slurm's queue is run again. Less than a tenth of it is news that way, when the
// model itself is of the last look.
const modelSlack = 16

// slurmConfig is what the configuration says of Slurm, in its package's words.
func (s *Server) slurmConfig() slurm.Config {
	b := &s.cfg.Batch
	return slurm.Config{
		Site: s.cfg.Name, Commands: slurm.Commands{Conf: b.Conf, Dir: b.Commands, Timeout: b.Timeout},
		Partition: b.Partition, Account: b.Account, QOS: b.QOS, Extra: b.Extra,
		Most: b.Waiting, Interval: b.Interval, Stale: b.Stale, Unseen: b.Unseen,
		Policy: func(p batch.Platform, settings batch.Settings) (batch.Policy, error) {
			return policy.New(b.Model.Name, p, settings)
		},
		Settings:    b.Model.Settings,
		Forecasters: func() slurm.Forecaster { return &forecast.Forecaster{Slack: modelSlack} },
		Programs:    batchScripts{s}, Witness: witness{s}, Taken: solo.ExitClaimed, Logger: s.log.Named("slurm"),
	}
}

// inspect finds out what the cluster is, and says so. A server that was here before
// goes on with what it found then if Slurm does not answer: its jobs are there.
func (s *Server) inspect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, inspectPatience)
	defer cancel()
	cfg := s.slurmConfig()
	r, err := slurm.Inspect(ctx, &cfg)
	var silent *slurm.UnreachableError
	if errors.As(err, &silent) || ctx.Err() != nil {
		known, e := s.data.cluster()
		if e != nil {
			return fmt.Errorf("batch: %w", errors.Join(err, e))
		}
		s.log.Error("Slurm does not answer: going on with what was known of it", "error", err)
		s.silent = true
		s.take(&known)
		return nil
	}
	if err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	s.log.Info("found Slurm", "version", r.Settings.Version, "cluster", r.Settings.Cluster, "partition", r.Partition.Name,
		"nodes", len(r.Platform.Nodes), "processors", r.Platform.Width(), "usable", r.Usable, "widest", r.Widest, "max_time", r.Partition.MaxTime,
		"scheduler", r.Settings.Scheduler, "accounting", r.Settings.Accounting, "completed_jobs", r.Settings.JobComp)
	for _, w := range r.Warnings {
		s.log.Warn("Slurm", "note", w)
	}
	s.tryScripts(ctx, &cfg)
	s.take(&r)
	return s.data.keepCluster(&r)
}

// take makes the site what the cluster was found to be: its machine, and what one job
// may have of it. A job that asks for more is refused here, and not by Slurm later.
func (s *Server) take(r *slurm.Report) {
	s.report = *r
	s.about.Platform = r.Platform
	largest := int32(0)
	for i := range r.Platform.Nodes {
		largest = max(largest, r.Platform.Nodes[i].Processors)
	}
	if n := r.Partition.PerNode; n > 0 {
		largest = min(largest, n)
	}
	s.cfg.Catalogue.OnOneNode(largest)
	if w := r.Widest; w > 0 && (s.cfg.Limits.Width == 0 || w < s.cfg.Limits.Width) && w < r.Platform.Width() {
		s.cfg.Limits.Width = w
	}
	s.about.MaxWidth = s.cfg.Limits.Width
	if d := r.Partition.MaxTime; d >= batch.Minute && d < catalogue.MaxTime {
		s.about.MaxWalltime = d
	}
}

// openSlurm begins to use Slurm, with what may be there from an earlier life.
func (s *Server) openSlurm(adopted []slurm.Adopted) error {
	cfg := s.slurmConfig()
	cfg.Adopt = adopted
	if err := os.MkdirAll(s.data.again(), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	cfg.Commands.Database = s.report.Settings.Accounting == "accounting_storage/slurmdbd"
	if s.report.Settings.JobComp == "jobcomp/filetxt" {
		cfg.Commands.JobComp = s.report.Settings.JobCompLoc
	}
	made, err := slurm.New(cfg)
	if err != nil {
		return err
	}
	s.system = made
	if s.silent {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.life, inspectPatience)
	defer cancel()
	if err := made.Await(ctx); err != nil {
		s.log.Warn("Slurm has told what it is, but not yet what it does", "error", err)
	}
	return nil
}

// cluster returns what was last found out about Slurm.
func (d *dataDir) cluster() (slurm.Report, error) {
	text, err := os.ReadFile(d.clusterFile())
	if errors.Is(err, fs.ErrNotExist) {
		return slurm.Report{}, errors.New("it has never answered this server")
	}
	var r slurm.Report
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return slurm.Report{}, fmt.Errorf("what was known of Slurm: %w", err)
	}
	return r, nil
}

func (d *dataDir) keepCluster(r *slurm.Report) error {
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(d.clusterFile()+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(d.clusterFile()+".new", d.clusterFile())
	}
	if err != nil {
		return fmt.Errorf("what is known of Slurm: %w", err)
	}
	return nil
}
