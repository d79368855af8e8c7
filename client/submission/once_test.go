package submission

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// keeper is a server that keeps the rules: it takes what has not been withdrawn,
// and withdraws what it has not taken.
type keeper struct{ has, withdrawn bool }

func (k *keeper) submit() FailureKind {
	if k.withdrawn {
		return Refused
	}
	k.has = true
	return 0
}

// once plays a submission against servers and a network that does its worst:
// messages are lost on the way there, or back, or arrive long after everybody has
// given up on them.
func once(t *rapid.T, servers []*keeper, targets []Target, cfg Config) Action {
	s := NewSubmission(cfg, "j", "")
	var late []*keeper // submissions that are still under way
	now := Time(0)
	for a := s.Start(now); ; {
		if len(late) > 0 && rapid.Bool().Draw(t, "arrives late") {
			late[0].submit()
			late = late[1:]
		}
		var at *keeper
		for i, target := range targets {
			if target == a.Target {
				at = servers[i]
			}
		}
		switch a.Do {
		case Map:
			a = s.Mapped(now, rapid.Permutation(targets).Draw(t, "ranking")[:rapid.IntRange(1, len(targets)).Draw(t,
				"ranked")])
		case Submit, Withdraw:
			verb := a.Do
			switch fate := rapid.SampledFrom([]string{"arrives", "unsent", "lost", "late", "no answer", "busy"}).Draw(t,
				"fate"); fate {
			case "unsent":
				a = s.Failed(now, failure("unsent"))
			case "busy":
				if at.has || at.withdrawn { // it would say so
					a = s.Failed(now, failure("silent"))
					break
				}
				a = s.Failed(now, failure("busy"))
			case "lost":
				a = s.Failed(now, failure("silent"))
			case "late":
				if verb == Submit {
					late = append(late, at)
				}
				a = s.Failed(now, failure("silent"))
			default:
				if verb == Submit && at.submit() == Refused {
					a = s.Withdrawn(now) // the refusal says so
					break
				}
				if verb == Withdraw && !at.has {
					at.withdrawn = true
				}
				switch {
				case fate == "no answer":
					a = s.Failed(now, failure("silent"))
				case at.has:
					a = s.Accepted(now)
				default:
					a = s.Withdrawn(now)
				}
			}
		case Pause:
			now = max(now, a.Until)
			a = s.Awake(now)
		default:
			for _, k := range late {
				k.submit()
			}
			return a
		}
	}
}

func TestASubmissionIsAcceptedAtMostOnceUnderAnyLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var servers []*keeper
		var targets []Target
		for i := range rapid.IntRange(1, 3).Draw(t, "servers") {
			servers = append(servers, &keeper{})
			targets = append(targets, site(fmt.Sprint("s", i)))
		}
		cfg := Config{Agents: 1, Patience: Duration(rapid.IntRange(0, 3).Draw(t, "patience")) * batch.Second}
		if rapid.Bool().Draw(t, "rerun") {
			cfg.Rerun = batch.Second
		}
		end := once(t, servers, targets, cfg)
		var have []string
		for i, k := range servers {
			if k.has {
				have = append(have, targets[i].Site)
			}
		}
		switch unknown, ok := errors.AsType[*UnknownError](end.Err); {
		case len(have) > 1:
			t.Fatalf("%v: accepted at %v", show(end), have)
		case end.Do == Done && (len(have) != 1 || have[0] != end.Target.Site):
			t.Fatalf("%v: accepted at %v", show(end), have)
		case end.Do == Rerun && !ok:
			t.Fatalf("a new attempt though nothing is unknown: %v", end.Err)
		case ok && len(have) == 1 && have[0] != unknown.Target.Site:
			t.Fatalf("%v: accepted at %v", show(end), have)
		case end.Do == Fail && !ok && len(have) > 0:
			t.Fatalf("%v, and yet accepted at %v", show(end), have)
		}
	})
}
