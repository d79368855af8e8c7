package submission

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestANewAttemptNeedsAnUnknownSubmission(t *testing.T) {
	for name, tc := range map[string]struct {
		avoid  string
		script string
	}{
		"a silence that lasts": {"", `
			0s    start    => map 0
			0s    mapped a => submit a
			0s    silent   => pause until 100ms for silent
			100ms awake    => submit a
			100ms silent   => pause until 300ms for silent
			300ms awake    => submit a
			300ms unsent   => pause until 500ms for unsent
			500ms awake    => submit a
			500ms unsent   => rerun, not at a, for unsent`},
		"nothing was sent: there is no attempt to replace": {"", `
			0s    start    => map 0
			0s    mapped a => submit a
			0s    unsent   => pause until 100ms for unsent
			100ms awake    => map 0
			100ms mapped a => submit a
			100ms unsent   => pause until 200ms for unsent
			200ms awake    => map 0
			200ms mapped a => submit a
			200ms unsent   => give up after 200ms for unsent`},
		"a site that withdraws is as good as never asked": {"", `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    silent     => pause until 100ms for silent
			100ms awake      => submit a
			100ms silent     => pause until 300ms for silent
			300ms awake      => withdraw a
			300ms withdrawn  => submit b
			300ms unsent     => pause until 400ms for unsent
			400ms awake      => map 0
			400ms mapped a   => pause until 500ms for unsent
			500ms awake      => map 0
			500ms mapped a   => give up after 200ms for unsent`},
		"the site of the first attempt comes last": {"a", `
			0s start        => map 0
			0s mapped a b   => submit b
			0s unsent       => pause until 100ms for unsent
			100ms awake     => map 0
			100ms mapped a  => submit a
			100ms accepted  => done a`},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSubmission(Config{Agents: 1, Patience: 200 * batch.Millisecond, Rerun: 500 * batch.Millisecond},
				"j", tc.avoid)
			play(t, tc.script, submit(s))
		})
	}
}

func TestAPursuitIsReplacedOnlyWithoutAnAnswer(t *testing.T) {
	for name, script := range map[string]string{
		"a site that stays silent": `
			0s    start    => visit a
			5s    silent   => find 0
			5s    absent   => pause until 5.1s for silent
			5.1s  awake    => visit a
			5.1s  unsent   => find 0
			5.1s  absent   => pause until 5.3s for unsent
			5.3s  awake    => visit a
			5.3s  unsent   => find 0
			5.3s  found a 0 => pause until 5.5s for unsent
			5.5s  awake    => visit a
			5.5s  unsent   => find 0
			5.5s  absent   => rerun, not at a, for unsent`,
		"one that answers that it is busy has the job": `
			0s    start    => visit a
			5s    busy     => pause until 5.1s for busy
			5.1s  awake    => visit a
			5.1s  busy     => pause until 5.2s for busy
			5.2s  awake    => visit a
			5.2s  busy     => give up after 200ms for busy`,
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPursuit(Config{Agents: 1, Patience: 200 * batch.Millisecond, Rerun: 500 * batch.Millisecond}, "j",
				site("a"), 0)
			play(t, script, pursue(t, p))
		})
	}
}
