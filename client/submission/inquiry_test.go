package submission

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestInquiry(t *testing.T) {
	for name, tc := range map[string]struct {
		agents   int
		patience batch.Duration
		script   string
	}{
		"the first agent that answers is enough": {2, batch.Second, `
			0s start    => ask 0
			0s answered => done`},
		"agents are asked in turn until patience runs out": {2, 250 * batch.Millisecond, `
			0s    start  => ask 0
			0s    unsent => ask 1
			0s    silent => pause until 100ms for silent
			100ms awake  => ask 0
			100ms unsent => ask 1
			100ms busy   => pause until 250ms for busy
			250ms awake  => ask 0
			250ms unsent => ask 1
			250ms unsent => give up after 250ms for unsent`},
		"no patience, no pause": {1, 0, `
			0s start  => ask 0
			0s unsent => fail for unsent`},
		"a refusal ends it": {2, batch.Second, `
			0s start   => ask 0
			0s refused => fail for refused`},
	} {
		t.Run(name, func(t *testing.T) {
			q := NewInquiry(Config{Agents: tc.agents, Patience: tc.patience})
			play(t, tc.script, func(now Time, event string, _ []string) Action {
				switch event {
				case "start":
					return q.Start(now)
				case "answered":
					return q.Answered(now)
				case "awake":
					return q.Awake(now)
				}
				return q.Failed(now, failure(event))
			})
		})
	}
}
