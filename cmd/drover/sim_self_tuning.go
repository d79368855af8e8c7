package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-9b8f70bb/drover/sim"
)

// printSelfTuning prints how a site's policy has tuned itself, if it does.
func printSelfTuning(w io.Writer, s *sim.SiteSummary) error {
	t := s.SelfTuning
	if t == nil {
		return nil
	}
	shares := make([]string, 0, len(t.Policies))
	for _, p := range t.Policies {
		shares = append(shares, fmt.Sprintf("%s %.1f%%", p.Name, 100*p.Share))
	}
	_, err := fmt.Fprintf(w, "%s: %d self-tuning steps, %d policy switches; jobs started by %s\n", s.Name, t.Steps, t.Switches, strings.Join(shares, ", "))
	return err
}
