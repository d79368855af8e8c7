package submission

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestPursuit(t *testing.T) {
	for name, tc := range map[string]struct {
		agents   int
		patience batch.Duration
		at       string // where the job is believed to be
		script   string
	}{
		"a known server is visited without asking": {1, 10 * batch.Second, "a", `
			0s start    => visit a
			9s finished => done a`},
		"an unknown place is asked for": {2, 10 * batch.Second, "", `
			0s start     => find 0
			0s unsent    => find 1
			0s found a 0 => visit a
			0s finished  => done a`},
		"a job that no agent can find is unknown": {2, 10 * batch.Second, "", `
			0s start  => find 0
			0s absent => find 1
			0s absent => fail for absent`},
		"one silent agent leaves hope": {2, 100 * batch.Millisecond, "", `
			0s    start  => find 0
			0s    absent => find 1
			0s    silent => pause until 100ms for silent
			100ms awake  => find 0
			100ms absent => find 1
			100ms absent => fail for absent`},
		"a move is followed": {1, 10 * batch.Second, "a", `
			0s start     => visit a
			5s progress 0   => visit a
			6s moved 1   => find 0
			6s found b 1 => visit b
			9s finished  => done b`},
		"an agent that is behind is asked again": {1, 10 * batch.Second, "a", `
			0s   start     => visit a
			6s   moved 1   => find 0
			6s   found a 1 => pause until 6.1s for job j: on its way from site a
			6.1s awake     => find 0
			6.1s found c 0 => pause until 6.3s for job j: on its way from site c
			6.3s awake     => find 0
			6.3s absent    => pause until 6.7s for absent
			6.7s awake     => find 0
			6.7s found b 1 => visit b`},
		"a job may come back": {1, 10 * batch.Second, "a", `
			0s start     => visit a
			6s moved 1   => find 0
			6s found b 1 => visit b
			7s moved 2   => find 0
			7s found a 2 => visit a
			9s finished  => done a`},
		"a server that does not answer may have handed the job over": {1, 10 * batch.Second, "a", `
			0s start     => visit a
			3s silent    => find 0
			3s found b 1 => visit b
			9s finished  => done b`},
		"a server that does not answer is visited again": {1, batch.Second, "a", `
			0s   start     => visit a
			3s   silent    => find 0
			3s   found a 0 => pause until 3.1s for silent
			3.1s awake     => visit a
			3.1s unsent    => find 0
			3.1s absent    => pause until 3.3s for unsent
			3.3s awake     => visit a
			3.3s progress 0   => visit a
			8s   silent    => find 0
			8s   busy      => pause until 8.1s for silent
			8.1s awake     => visit a
			9s   silent    => find 0
			9s   silent    => give up after 1s for silent`},
		"claims that take turns do not keep it busy": {1, 10 * batch.Second, "a", `
			0s start     => visit a
			0s unsent    => find 0
			0s found b 0 => visit b
			0s unsent    => find 0
			0s found a 0 => pause until 100ms for unsent`},
		"a server that knows nothing of the job and an agent that says it does are asked again": {
			1, 10 * batch.Second, "a", `
			0s    start     => visit a
			0s    absent    => find 0
			0s    found a 0 => pause until 100ms for absent
			100ms awake     => visit a
			100ms finished  => done a`,
		},
		"a job that its server has forgotten is unknown when no agent finds it": {1, 10 * batch.Second, "a", `
			0s start  => visit a
			0s absent => find 0
			0s absent => fail for absent`},
		"a server with an older move is behind": {1, 10 * batch.Second, "a", `
			0s start     => visit a
			6s moved 2   => find 0
			6s found b 2 => visit b
			6s moved 1   => find 0
			6s found b 2 => pause until 6.1s for job j: site b reports an outdated move
			6.1s awake   => visit b`},
		"a server that has no answer yet is asked again": {1, 10 * batch.Second, "a", `
			0s start     => visit a
			6s busy      => pause until 6.1s for busy
			6.1s awake   => visit a
			6.1s moved 1 => find 0
			6.1s found b 1 => visit b
			9s finished  => done b`},
		"a refusal ends it": {2, 10 * batch.Second, "a", `
			0s start   => visit a
			0s refused => fail for refused`},
		"an agent's refusal ends it": {2, 10 * batch.Second, "", `
			0s start   => find 0
			0s refused => fail for refused`},
	} {
		t.Run(name, func(t *testing.T) {
			var at Target
			if tc.at != "" {
				at = site(tc.at)
			}
			p := NewPursuit(Config{Agents: tc.agents, Patience: tc.patience}, "j", at, 0)
			play(t, tc.script, pursue(t, p))
		})
	}
}

// pursue returns how a script's events reach a pursuit.
func pursue(t *testing.T, p *Pursuit) func(now Time, event string, args []string) Action {
	epoch := func(s string) uint32 {
		e, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(e)
	}
	return func(now Time, event string, args []string) Action {
		switch event {
		case "start":
			return p.Start(now)
		case "progress":
			p.Progress(epoch(args[0]))
			return p.last
		case "moved":
			return p.Moved(now, epoch(args[0]))
		case "found":
			return p.Found(now, site(args[0]), epoch(args[1]))
		case "finished":
			return p.Finished(now)
		case "awake":
			return p.Awake(now)
		}
		return p.Failed(now, failure(event))
	}
}

func TestAPursuitGivesUpAfterTooManyMoves(t *testing.T) {
	p := NewPursuit(Config{Agents: 1, Patience: batch.Second}, "j", site("s0"), 0)
	p.Start(0)
	for hop := uint32(1); hop <= MaxHops; hop++ {
		if a := p.Moved(0, hop); a.Do != Find {
			t.Fatalf("hop %d: %s", hop, show(a))
		}
		p.Found(0, site(fmt.Sprint("s", hop)), hop)
	}
	a := p.Moved(0, MaxHops+1)
	if _, ok := errors.AsType[*HopsError](a.Err); a.Do != Fail || !ok {
		t.Errorf("after %d hops: %s", MaxHops, show(a))
	}
}
