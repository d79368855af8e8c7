package server

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch/slurm"
)

// writeScripts writes the batch scripts of services and logs the notes about them.
func (s *Server) writeScripts() error {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil {
			continue
		}
		for _, note := range service.Script.Notes {
			s.log.Warn("batch script", "service", service.Name, "note", note)
		}
		if err := s.data.WriteScript(service); err != nil {
			return err
		}
	}
	return nil
}

// tryScripts has Slurm look at the options of each script, and reports those that it
// refuses: their jobs would fail.
func (s *Server) tryScripts(ctx context.Context, cfg *slurm.Config) {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil || len(service.Script.Options) == 0 {
			continue
		}
		lo, _, _ := service.Widths()
		if err := cfg.Try(ctx, lo, service.Script.Options); err != nil {
			s.log.Error("Slurm refuses the options of a batch script: its jobs will fail", "service", service.Name, "options", service.Script.Options, "error", err)
		}
	}
}
