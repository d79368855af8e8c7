package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
)

// describeTimeout is how long a starting server waits for its external batch system.
const describeTimeout = 30 * time.Second

// modelSlack: the model of the cluster's queue runs again after every modelSlack-th new
// waiting job, which is accurate enough for a model that is as old as its poll.
const modelSlack = 16

// externalCluster is what a server needs of an external batch system, besides what
// package external needs of it.
type externalCluster interface {
	external.Cluster
	// Describe finds out what the cluster is, and refuses a configuration that does not
	// fit it. The error is an *external.UnreachableError if it does not answer.
	Describe(ctx context.Context) (external.Description, error)
	// Use takes over a description, this server's or that of an earlier process. It is
	// called once, before all methods of external.Cluster.
	Use(d *external.Description)
	// TrySubmit asks whether a job of width processors with these submit options of a
	// batch script would be accepted.
	TrySubmit(ctx context.Context, width int32, options []string) error
}

// externalKind is a kind of external batch systems.
type externalKind struct {
	title      string // in messages
	launchHint string // how a program starts its other processes
	// environment names the variables that it sets for jobs.
	environment solo.System
	// check reports what is wrong with the keys of the configuration that only this kind
	// has.
	check func(b *Batch, bad func(key string, value any, accepted string))
	open  func(b *Batch) externalCluster
}

// external returns the kind of the site's external batch system; nil for an embedded one.
func (c *Config) external() *externalKind {
	if kind, ok := externals[c.Batch.Type]; ok {
		return &kind
	}
	return nil
}

// batchTypes lists the accepted values of batch.type.
func batchTypes() []BatchType {
	return append([]BatchType{Embedded}, slices.Sorted(maps.Keys(externals))...)
}

// describeExternal asks the external batch system for its description. If it does not answer, a
// restarted server uses the stored description, because its jobs are there.
func (s *Server) describeExternal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	s.cluster = s.cfg.external().open(&s.cfg.Batch)
	d, err := s.cluster.Describe(ctx)
	if _, silent := errors.AsType[*external.UnreachableError](err); silent || ctx.Err() != nil {
		known, e := s.data.description()
		if e != nil {
			return fmt.Errorf("batch: %w", errors.Join(err, e))
		}
		s.log.Error("batch system does not answer, using its earlier description", "error", err)
		s.silent = true
		s.applyDescription(&known)
		return nil
	}
	if err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	fields := []any{
		"nodes", len(d.Platform.Nodes), "processors", d.Platform.Width(), "usable", d.Usable,
		"widest", d.MaxWidth, "max_time", d.MaxWalltime,
	}
	for _, name := range slices.Sorted(maps.Keys(d.Facts)) {
		fields = append(fields, name, d.Facts[name])
	}
	s.log.Info("batch system found", append([]any{"type", s.cluster.Title()}, fields...)...)
	for _, w := range d.Warnings {
		s.log.Warn("batch system setting unsuitable", "setting", w)
	}
	s.tryScripts(ctx)
	s.applyDescription(&d)
	return s.data.keepDescription(&d)
}

// applyDescription sets the platform and the limits of the site to those of the cluster, so that
// this server refuses jobs that the cluster would refuse later.
func (s *Server) applyDescription(d *external.Description) {
	s.cluster.Use(d)
	s.about.Platform = d.Platform
	largest := int32(0)
	for i := range d.Platform.Nodes {
		largest = max(largest, d.Platform.Nodes[i].Processors)
	}
	if d.MaxPerNode > 0 {
		largest = min(largest, d.MaxPerNode)
	}
	s.cfg.Catalogue.OnOneNode(largest)
	if w := d.MaxWidth; w > 0 && (s.cfg.Limits.Width == 0 || w < s.cfg.Limits.Width) && w < d.Platform.Width() {
		s.cfg.Limits.Width = w
	}
	s.about.MaxWidth = s.cfg.Limits.Width
	if d.MaxWalltime >= batch.Minute && d.MaxWalltime < catalogue.MaxTime {
		s.about.MaxWalltime = d.MaxWalltime
	}
}

// openExternal starts to use the external batch system, with attempts of an earlier
// server process that it may have.
func (s *Server) openExternal(adopted []external.Adopted) error {
	if err := os.MkdirAll(s.data.notices(), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	b := &s.cfg.Batch
	made, err := external.New(external.Config{
		Site: s.cfg.Name, Cluster: s.cluster, Adopt: adopted,
		MaxQueued: b.Waiting, Interval: b.Interval, Stale: b.Stale, MaxUnseen: b.Unseen,
		Policy: func(p batch.Platform, settings batch.Settings) (batch.Policy, error) {
			return policy.New(b.Model.Name, p, settings)
		},
		Settings:    b.Model.Settings,
		Forecasters: func() external.Forecaster { return &forecast.Forecaster{Slack: modelSlack} },
		Programs:    batchScripts{s}, Files: attemptFiles{s.data}, ClaimedExit: solo.ExitClaimed,
		Logger: s.log.Named(string(b.Type)),
	})
	if err != nil {
		return err
	}
	s.system = made
	if s.silent {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.life, describeTimeout)
	defer cancel()
	if err := made.Await(ctx); err != nil {
		s.log.Warn("first poll of the batch system failed", "error", err)
	}
	return nil
}

// tryScripts reports batch scripts with options that the batch system refuses.
func (s *Server) tryScripts(ctx context.Context) {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil || len(service.Script.Options) == 0 {
			continue
		}
		width, _, _ := service.Widths()
		if err := s.cluster.TrySubmit(ctx, width, service.Script.Options); err != nil {
			s.log.Error("batch system refuses the options of a batch script; its jobs will fail",
				"service", service.Name, "options", service.Script.Options, "error", err)
		}
	}
}

// description returns the stored description of the external batch system.
func (d *dataDir) description() (external.Description, error) {
	text, err := os.ReadFile(d.descriptionFile())
	if errors.Is(err, fs.ErrNotExist) {
		return external.Description{}, errors.New("it has never answered this server")
	}
	var known external.Description
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return external.Description{}, fmt.Errorf("stored description of the batch system: %w", err)
	}
	return known, nil
}

func (d *dataDir) keepDescription(known *external.Description) error {
	text, err := json.Marshal(known)
	if err == nil {
		err = os.WriteFile(d.descriptionFile()+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(d.descriptionFile()+".new", d.descriptionFile())
	}
	if err != nil {
		return fmt.Errorf("store the description of the batch system: %w", err)
	}
	return nil
}

// dataDir is the server's directory with the files of an external batch system.
type dataDir struct{ *files.Dir }

func openData(root string) (*dataDir, error) {
	d, err := files.Open(root)
	if err != nil {
		return nil, err
	}
	return &dataDir{d}, nil
}

// notices is the directory in which script starts of an external batch system leave
// notices for the server.
func (d *dataDir) notices() string { return filepath.Join(d.Root, "notices") }

// descriptionFile has the last description of an external batch system.
func (d *dataDir) descriptionFile() string { return filepath.Join(d.Root, "cluster.json") }

// writeScripts writes the batch scripts of services and logs the notes about them.
func (s *Server) writeScripts() error {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil {
			continue
		}
		for _, note := range service.Script.Notes {
			s.log.Warn("batch script option ignored", "service", service.Name, "option", note)
		}
		if err := s.data.WriteScript(service); err != nil {
			return err
		}
	}
	return nil
}
