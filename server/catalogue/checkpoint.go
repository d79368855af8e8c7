package catalogue

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
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

func (d *decoder) checkpoint(n *yaml.Node, path string, args []Argument) *checkpoint {
	c := &checkpoint{grace: DefaultGrace, after: DefaultAfter}
	d.mapping(n, path,
		field{"signal", false, func(n *yaml.Node, path string) {
			v, ok := d.scalar(n, path, checkpointSignals)
			known := false
			for name := range strings.SplitSeq(checkpointSignals, ", ") {
				known = known || v == name
			}
			if ok && !known {
				d.fail(n, path, "got %q, accepted: %s", v, checkpointSignals)
			}
			c.signal = "SIG" + v
		}},
		field{"command", false, func(n *yaml.Node, path string) {
			d.list(n, path, func(n *yaml.Node, path string) {
				c.command = append(c.command, d.template(n, path, args))
			})
			if n.Kind != yaml.SequenceNode {
				return
			}
			if len(n.Content) == 0 || follow(n.Content[0]).Value == "" {
				d.fail(n, path, "empty, accepted: a program and its arguments")
			}
		}},
		field{"after", false, func(n *yaml.Node, path string) {
			if v, ok := d.scalar(n, path, durationAccepted); ok {
				after, ok := parseDuration(v)
				if !ok || after < 0 || after > batch.Hour {
					d.fail(n, path, "got %q, accepted: %s, at most 1h", v, durationAccepted)
				}
				c.after = after
			}
		}},
		field{"grace", false, func(n *yaml.Node, path string) {
			if v, ok := d.scalar(n, path, durationAccepted); ok {
				g, ok := parseDuration(v)
				if !ok || g <= 0 || g > batch.Hour {
					d.fail(n, path, "got %q, accepted: %s, above 0s, at most 1h", v, durationAccepted)
				}
				c.grace = g
			}
		}},
	)
	if n.Kind == yaml.MappingNode && c.signal == "" && len(c.command) == 0 {
		d.fail(n, path, "accepted: a signal, a command or both")
	}
	return c
}
