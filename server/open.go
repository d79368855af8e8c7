package server

import (
	"context"
	"fmt"
	"net"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// open creates the parts, the sockets last. If it fails, Close frees what it created.
func (s *Server) open() error {
	speed, err := s.cfg.speed()
	if err != nil {
		return err
	}
	tuning, err := site.ParseTuning(s.cfg.Tuning)
	if err != nil {
		return err
	}
	s.about = site.Config{
		Name: s.cfg.Name, Platform: s.cfg.platform(), Speed: speed, Catalogue: s.cfg.Catalogue, Tuning: tuning,
		MaxWidth: s.cfg.Limits.Width, Patience: s.cfg.patience,
		PausedKeepMemory: s.cfg.external() == nil && s.cfg.traits().Chooses(),
	}
	if s.about.Edge, err = s.edge(); err != nil {
		return err
	}
	where, err := s.cfg.dataDir()
	if err != nil {
		return err
	}
	if s.data, err = openData(where); err != nil {
		return err
	}
	s.store, err = store.Open(store.Config{Path: s.data.DB(), Site: s.cfg.Name, Logger: s.log.Named("store")})
	if err != nil {
		return err
	}
	if err = s.openContent(where); err != nil {
		return err
	}
	if err = s.writeScripts(); err != nil {
		return err
	}
	if s.cfg.external() != nil {
		err = s.describeExternal(s.life)
	} else {
		err = s.openRunner()
	}
	if err != nil {
		return err
	}
	attempts, err := s.boot()
	if err != nil {
		return err
	}
	if s.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", s.cfg.Listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.url = s.cfg.URL; s.url == "" {
		s.url = "http://" + s.listener.Addr().String()
	}
	group, err := gossip.Join(gossip.Config{
		Name: s.cfg.Name, Role: gossip.Server, Bind: s.cfg.Gossip.Bind, URL: s.url, API: apiVersion,
		Capabilities: s.capabilities(), Seeds: s.cfg.Gossip.Seeds, Roster: filepath.Join(s.data.Root, "members.json"),
		Logger: s.log.Named("gossip"),
	})
	if err != nil {
		return err
	}
	s.group, s.seed = group, group.Addr()
	s.outbox = newOutbox(s)
	return s.resume(attempts)
}

// edge returns the check for jobs that could never run here. A service that could never run is only
// logged, because several sites may share a catalogue.
func (s *Server) edge() (site.Edge, error) {
	edge, err := policy.NewEdge(s.cfg.policyName(), s.about.Platform)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	for _, service := range s.cfg.Catalogue.Services() {
		spec := batch.Job{Shape: batch.Shape{Width: 1, Walltime: batch.Second}, Licenses: service.Licenses}
		if err := edge.Check(&spec); err != nil {
			s.log.Warn("service can never run on this site", "service", service.Name, "error", err)
		}
	}
	return edge, nil
}

// capabilities lists the server's optional features.
func (s *Server) capabilities() []string {
	var able []string
	if s.system.Caps().Promises {
		able = append(able, "promises")
	}
	if s.system.Caps().Reservations {
		able = append(able, "reservations")
	}
	return append(able, s.offers()...)
}
