package catalogue

import (
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
)

// Defaults of a checkpoint: the time to write it, and the time after its start from which
// a program responds to the request.
const (
	DefaultGrace = 30 * batch.Second
	DefaultAfter = batch.Second
)

// checkpoint is how a service's jobs write a checkpoint before they stop. Its command
// holds placeholders.
type checkpoint struct {
	signal  string
	command []template
	grace   batch.Duration
	after   batch.Duration
}

// checkpointSignals are the signals that a program can handle and survive.
const checkpointSignals = "HUP, INT, USR1, USR2, TERM"

// Checkpoint returns how a job writes a checkpoint from which it can resume; nil if the
// job is suspended in place.
func (s *Service) Checkpoint(v Values, l Launch) *batch.Checkpoint {
	if s.checkpoint == nil {
		return nil
	}
	c := &batch.Checkpoint{Signal: s.checkpoint.signal, Grace: s.checkpoint.grace, After: s.checkpoint.after}
	for _, t := range s.checkpoint.command {
		c.Command = append(c.Command, t.fill(v, l))
	}
	return c
}

// Checkpoints reports whether jobs of the service write checkpoints and restart from
// them.
func (s *Service) Checkpoints() bool { return s.checkpoint != nil }

func (d *decoder) checkpoint(v config.Value, args []Argument) *checkpoint {
	var in struct {
		Signal  config.Value `yaml:"signal"`
		Command config.Value `yaml:"command"`
		After   config.Value `yaml:"after"`
		Grace   config.Value `yaml:"grace"`
	}
	c := &checkpoint{}
	if !d.fit(v, &in) {
		return c
	}
	if text, ok := d.scalar(in.Signal, checkpointSignals); ok {
		if !slices.Contains(strings.Split(checkpointSignals, ", "), text) {
			d.fail(in.Signal, "got %q, accepted: %s", text, checkpointSignals)
		}
		c.signal = "SIG" + text
	}
	c.command = d.templates(in.Command, args, true)
	c.after = d.duration(in.After, 0, batch.Hour, DefaultAfter)
	c.grace = d.duration(in.Grace, 1, batch.Hour, DefaultGrace)
	if !in.Signal.Given() && len(c.command) == 0 {
		d.fail(v, "accepted: a signal, a command or both")
	}
	return c
}
