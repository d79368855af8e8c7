package catalogue

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

// What counts where the catalogue says nothing: how long writing a checkpoint may take,
// and how long after its start a program listens.
const (
	DefaultGrace = 30 * batch.Second
	DefaultAfter = batch.Second
)

// checkpoint is how a service's jobs make place, with the placeholders of their command.
type checkpoint struct {
	signal  string
	command []template
	grace   batch.Duration
	after   batch.Duration
}

// checkpointSignals are those that a program can take for one thing and survive.
const checkpointSignals = "HUP, INT, USR1, USR2, TERM"

// Checkpoint returns how a job makes place, so that it can go on later; nil for one that
// is stopped where it is.
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

// Checkpoints says whether jobs of the service write down how far they have come and
// are started again.
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
