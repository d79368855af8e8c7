package submission

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// play runs a script against a core. A line is
//
//	TIME EVENT ARGUMENTS => ACTION
//
// where TIME is the time since the beginning, and ACTION what the event has to
// be answered with, as show writes it.
func play(t *testing.T, script string, event func(now Time, name string, args []string) Action) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSpace(script), "\n") {
		before, want, ok := strings.Cut(strings.TrimSpace(line), "=>")
		words := strings.Fields(before)
		if !ok || len(words) < 2 {
			t.Fatalf("line %d: %q", i+1, line)
		}
		at, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		now := Time(at / time.Microsecond)
		if got := show(event(now, words[1], words[2:])); got != strings.TrimSpace(want) {
			t.Fatalf("line %d: %s\n got %s", i+1, strings.TrimSpace(line), got)
		}
	}
}

func show(a Action) string {
	switch a.Do {
	case Map, Find, Ask:
		return fmt.Sprintf("%v %d", a.Do, a.Agent)
	case Submit, Withdraw, Visit, Done:
		if a.Target == (Target{}) {
			return a.Do.String()
		}
		return fmt.Sprintf("%v %s", a.Do, a.Target.Site)
	case Pause:
		return fmt.Sprintf("pause until %v for %v", time.Duration(a.Until)*time.Microsecond, a.Err)
	case Fail:
		if u, ok := errors.AsType[*UnknownError](a.Err); ok {
			return fmt.Sprintf("unknown at %s for %v", u.Target.Site, u.Err)
		}
		if p, ok := errors.AsType[*PatienceError](a.Err); ok {
			return fmt.Sprintf("give up after %v for %v", time.Duration(p.After)*time.Microsecond, p.Err)
		}
		return fmt.Sprintf("fail for %v", a.Err)
	case Rerun:
		return fmt.Sprintf("rerun, not at %s, for %v", a.Target.Site, errors.Unwrap(a.Err))
	}
	return a.Do.String()
}

func site(name string) Target { return Target{Site: name, Address: "http://" + name} }

// failure returns the failure that an event names, with its name as the error.
func failure(name string) Failure {
	kinds := map[string]FailureKind{
		"unsent": Unsent, "silent": Silent, "busy": Busy, "absent": Absent, "refused": Refused, "unfit": Unfit,
	}
	return Failure{Kind: kinds[name], Err: errors.New(name)}
}

func TestSubmission(t *testing.T) {
	for name, tc := range map[string]struct {
		agents   int
		patience batch.Duration
		script   string
	}{
		"goes to the first of the ranking": {1, 10 * batch.Second, `
			0s start      => map 0
			0s mapped a b => submit a
			1s accepted   => done a`},
		"another agent is asked when one does not answer": {3, 10 * batch.Second, `
			0s start    => map 0
			0s unsent   => map 1
			2s silent   => map 2
			2s mapped a => submit a`},
		"agents are asked again, the next one first, until patience runs out": {2, batch.Second, `
			0s    start  => map 0
			0s    unsent => map 1
			0s    unsent => pause until 100ms for unsent
			100ms awake  => map 0
			100ms busy   => map 1
			100ms unsent => pause until 300ms for unsent
			300ms awake  => map 0
			900ms silent => map 1
			900ms silent => pause until 1s for silent
			1s    awake  => map 0
			1s    unsent => map 1
			1s    busy   => give up after 1s for busy`},
		"what the agent refuses is refused": {2, 10 * batch.Second, `
			0s start   => map 0
			0s refused => fail for refused`},
		"an empty ranking is no place to submit to": {1, 0, `
			0s start  => map 0
			0s mapped => fail for the agent named no site`},
		"a call that sent nothing goes to the next site at once": {1, 10 * batch.Second, `
			0s start        => map 0
			0s mapped a b c => submit a
			0s unsent       => submit b
			0s unsent       => submit c
			0s accepted     => done c`},
		"what one site does not take another may, and waiting would not help": {1, 10 * batch.Second, `
			0s start      => map 0
			0s mapped a b => submit a
			0s unfit      => submit b
			0s unfit      => fail for unfit`},
		"a site that is down may take what the others do not": {1, 10 * batch.Second, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    unsent     => submit b
			0s    unfit      => pause until 100ms for unfit
			100ms awake      => map 0
			100ms mapped b   => submit b
			100ms unfit      => fail for unfit`},
		"when nothing could be sent to any site the agent is asked again": {1, 10 * batch.Second, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    unsent     => submit b
			0s    unsent     => pause until 100ms for unsent
			100ms awake      => map 0
			100ms mapped c   => submit c
			100ms accepted   => done c`},
		"patience is not renewed by an agent that ranks what cannot be reached": {1, 150 * batch.Millisecond, `
			0s    start    => map 0
			0s    mapped a => submit a
			0s    unsent   => pause until 100ms for unsent
			100ms awake    => map 0
			100ms mapped a => submit a
			100ms unsent   => pause until 150ms for unsent
			150ms awake    => map 0
			150ms mapped a => submit a
			150ms unsent   => give up after 150ms for unsent`},
		"after a silence it stays with that site, though others are free": {1, 10 * batch.Second, `
			0s   start      => map 0
			0s   mapped a b => submit a
			3s   silent     => pause until 3.1s for silent
			3.1s awake      => submit a
			3.1s accepted   => done a`},
		"a server that stays silent is asked to withdraw the job": {1, 10 * batch.Second, `
			0s   start      => map 0
			0s   mapped a b => submit a
			3s   silent     => pause until 3.1s for silent
			3.1s awake      => submit a
			3.1s unsent     => pause until 3.3s for unsent
			3.3s awake      => withdraw a
			3.3s unsent     => pause until 3.7s for unsent
			3.7s awake      => withdraw a
			3.7s withdrawn  => submit b
			3.7s accepted   => done b`},
		"it has accepted the job: that is the answer": {1, 10 * batch.Second, `
			0s   start      => map 0
			0s   mapped a b => submit a
			0s   silent     => pause until 100ms for silent
			0.1s awake      => submit a
			0.1s silent     => pause until 300ms for silent
			0.3s awake      => withdraw a
			0.3s accepted   => done a`},
		"a silence that lasts leaves it unknown": {1, 250 * batch.Millisecond, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    silent     => pause until 100ms for silent
			100ms awake      => submit a
			100ms silent     => pause until 250ms for silent
			250ms awake      => withdraw a
			250ms unsent     => unknown at a for unsent`},
		"with nowhere else to go it is asked to take the job until patience ends": {1, 250 * batch.Millisecond, `
			0s    start    => map 0
			0s    mapped a => submit a
			0s    silent   => pause until 100ms for silent
			100ms awake    => submit a
			100ms silent   => pause until 250ms for silent
			250ms awake    => submit a
			250ms unsent   => unknown at a for unsent`},
		"without patience a silence is unknown at once": {1, 0, `
			0s start      => map 0
			0s mapped a b => submit a
			0s silent     => unknown at a for silent`},
		"patience restarts when the job is sent": {2, batch.Second, `
			0s    start    => map 0
			0s    unsent   => map 1
			0s    mapped a => submit a
			60s   silent   => pause until 1m0.1s for silent
			60.1s awake    => submit a
			60.1s accepted => done a`},
		"a server that refuses withdraws the job, and the next one gets it": {1, 10 * batch.Second, `
			0s start      => map 0
			0s mapped a b => submit a
			0s refused    => withdraw a
			0s withdrawn  => submit b
			0s accepted   => done b`},
		"the refusal of the last site is the answer": {1, 10 * batch.Second, `
			0s start      => map 0
			0s mapped a b => submit a
			0s refused    => withdraw a
			0s withdrawn  => submit b
			0s refused    => fail for refused`},
		"a refusal after a silence says nothing about what was sent before, a withdrawal does": {1, 10 * batch.Second, `
			0s    start     => map 0
			0s    mapped a  => submit a
			0s    silent    => pause until 100ms for silent
			100ms awake     => submit a
			100ms refused   => withdraw a
			100ms withdrawn => fail for refused`},
		"where nothing is withdrawn a refusal after a silence leaves it unknown": {1, 10 * batch.Second, `
			0s    start    => map 0
			0s    mapped a => submit a
			0s    silent   => pause until 100ms for silent
			100ms awake    => submit a
			100ms refused  => withdraw a
			100ms refused  => pause until 300ms for refused
			300ms awake    => submit a
			300ms refused  => unknown at a for refused`},
		"a server that cannot take it now withdraws it, and the next one gets it": {1, 10 * batch.Second, `
			0s start      => map 0
			0s mapped a b => submit a
			0s busy       => withdraw a
			0s withdrawn  => submit b
			0s accepted   => done b`},
		"a server that says only now that it has the job keeps it": {1, 10 * batch.Second, `
			0s start      => map 0
			0s mapped a b => submit a
			0s busy       => withdraw a
			0s accepted   => done a`},
		"a withdrawal is asked for until it is answered": {1, 250 * batch.Millisecond, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    busy       => withdraw a
			0s    silent     => pause until 100ms for silent
			100ms awake      => withdraw a
			100ms busy       => pause until 250ms for busy
			250ms awake      => withdraw a
			250ms unsent     => give up after 250ms for unsent`},
		"the only server that cannot take it now is asked again, others are looked for": {1, 250 * batch.Millisecond, `
			0s    start      => map 0
			0s    mapped a   => submit a
			0s    busy       => pause until 100ms for busy
			100ms awake      => map 0
			100ms mapped a   => submit a
			100ms busy       => pause until 250ms for busy
			250ms awake      => map 0
			250ms mapped b a => withdraw a
			250ms withdrawn  => submit b
			250ms accepted   => done b`},
		"when no agent answers meanwhile it is asked again, too": {2, 10 * batch.Second, `
			0s    start      => map 0
			0s    mapped a   => submit a
			0s    busy       => pause until 100ms for busy
			100ms awake      => map 1
			100ms unsent     => map 0
			100ms unsent     => submit a
			100ms accepted   => done a`},
		"a site that has withdrawn the job does not get it again": {1, 100 * batch.Millisecond, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    busy       => withdraw a
			0s    withdrawn  => submit b
			0s    unsent     => pause until 100ms for unsent
			100ms awake      => map 0
			100ms mapped a   => give up after 100ms for unsent`},
		"when only sites that have withdrawn the job are left it stays where it is": {1, 10 * batch.Second, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    busy       => withdraw a
			0s    withdrawn  => submit b
			0s    busy       => pause until 100ms for busy
			100ms awake      => map 0
			100ms mapped a   => submit b
			100ms accepted   => done b`},
		"a server that withdraws nothing keeps the job": {1, 10 * batch.Second, `
			0s    start      => map 0
			0s    mapped a b => submit a
			0s    busy       => withdraw a
			0s    refused    => pause until 100ms for refused
			100ms awake      => submit a
			100ms busy       => pause until 300ms for busy
			300ms awake      => map 0
			300ms mapped b a => submit a
			300ms accepted   => done a`},
		"a site that stays busy is given up, and it is known that it has not taken the job": {
			1, 100 * batch.Millisecond, `
			0s    start    => map 0
			0s    mapped a => submit a
			0s    busy     => pause until 100ms for busy
			100ms awake    => map 0
			100ms mapped a => submit a
			100ms busy     => give up after 100ms for busy`,
		},
		"pauses double up to the longest": {1, 100 * batch.Second, `
			0s   start    => map 0
			0s   mapped a => submit a
			0s   silent   => pause until 100ms for silent
			0s   awake    => submit a
			0s   silent   => pause until 200ms for silent
			0s   awake    => submit a
			0s   silent   => pause until 400ms for silent
			0s   awake    => submit a
			0s   silent   => pause until 800ms for silent
			0s   awake    => submit a
			0s   silent   => pause until 1.6s for silent
			0s   awake    => submit a
			0s   silent   => pause until 2s for silent
			0s   awake    => submit a
			0s   silent   => pause until 2s for silent`},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSubmission(Config{Agents: tc.agents, Patience: tc.patience}, "j", "")
			play(t, tc.script, submit(s))
		})
	}
}

// submit returns how a script's events reach a submission.
func submit(s *Submission) func(now Time, event string, args []string) Action {
	return func(now Time, event string, args []string) Action {
		switch event {
		case "start":
			return s.Start(now)
		case "mapped":
			var targets []Target
			for _, a := range args {
				targets = append(targets, site(a))
			}
			return s.Mapped(now, targets)
		case "accepted":
			return s.Accepted(now)
		case "withdrawn":
			return s.Withdrawn(now)
		case "awake":
			return s.Awake(now)
		}
		return s.Failed(now, failure(event))
	}
}
