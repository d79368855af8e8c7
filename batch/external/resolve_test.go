package external

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// remembering is a cluster that knows the records of some jobs.
type remembering struct {
	deaf
	records []Record
}

func (c remembering) Lookup(context.Context, []string, []string) ([]Record, error) {
	return c.records, nil
}

// An attempt that gets another shape is cancelled and submitted again under the same
// name. The end of the first job says nothing about the second.
func TestARecordWithoutNodesCountsOnlyUnderTheIDOfTheAttempt(t *testing.T) {
	key := attemptOf(1)
	record := Record{ID: "7", Cause: Cancelled, State: "CANCELLED", Name: Name(key), End: time.Now()}
	for id, want := range map[string]int{"7": 1, "8": 0, "": 0} {
		s := polled(t, easy.New, 1)
		s.cluster = remembering{records: []Record{record}}
		known, _, err := s.records(t.Context(), []absence{{key: key, id: id, unconfirmed: id == ""}})
		if err != nil || len(known) != want {
			t.Errorf("under ID %q: %v, %v", id, known, err)
		}
	}
}

// Of two records of one attempt, that of a start which found the claim says nothing.
func TestTheRecordOfTheStartThatRanCounts(t *testing.T) {
	key := attemptOf(1)
	ran := Record{ID: "7", Cause: TimedOut, Name: Name(key), Nodes: []string{"n1"}}
	second := Record{ID: "8", Cause: Failed, Code: 99, Name: Name(key), Nodes: []string{"n1"}}
	for name, list := range map[string][]Record{"in order": {ran, second}, "in reverse": {second, ran}} {
		s := polled(t, easy.New, 1)
		s.cfg.ClaimedExit, s.cluster = 99, remembering{records: list}
		known, _, err := s.records(t.Context(), []absence{{key: key}})
		if err != nil || known[key].ID != "7" {
			t.Errorf("%s: %+v, %v", name, known, err)
		}
	}
}

func TestAStopIsAnErrorOnlyIfTheAttemptCountedAsLost(t *testing.T) {
	for name, c := range map[string]struct {
		presumed bool
		errors   int
	}{"stopped in time": {false, 0}, "reported lost before": {true, 1}} {
		var log bytes.Buffer
		s := polled(t, easy.New, 1)
		s.log = hclog.New(&hclog.LoggerOptions{Output: &log})
		key := attemptOf(1)
		s.attempts[key] = &attempt{key: key, stage: over, presumed: c.presumed}
		s.noteStopped(key, "host")
		if n := strings.Count(log.String(), "[ERROR]"); n != c.errors {
			t.Errorf("%s: %d errors, want %d:\n%s", name, n, c.errors, log.String())
		}
	}
}

func TestPausesBetweenFailedPollsDoubleUpToAMinute(t *testing.T) {
	for interval, want := range map[time.Duration][]time.Duration{
		2 * time.Second: {
			4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
		},
		50 * time.Second: {time.Minute, time.Minute},
		time.Hour:        {time.Minute, time.Minute},
	} {
		s := polled(t, easy.New, 1)
		s.pause = newPause(interval)
		for i, pause := range want {
			if got := s.pollFailed(&UnreachableError{Command: "list"}); got != pause {
				t.Errorf("interval %v: pause %d is %v, want %v", interval, i, got, pause)
			}
		}
		s.pause.Reset()
		if got := s.pollFailed(&UnreachableError{Command: "list"}); got != want[0] {
			t.Errorf("interval %v: pause after an answer is %v, want %v", interval, got, want[0])
		}
	}
}

// A cluster that is silent is asked for one hold again only after retryAfter.
func TestAnActionWithoutEffectIsRepeatedAfterAWhile(t *testing.T) {
	now := time.Now()
	a := &attempt{stage: submitted, desired: wantHeld, phase: batch.PhaseQueued}
	if got := a.due(now); got != Hold {
		t.Errorf("action %d, want a hold", got)
	}
	a.lastAction, a.actionAt = Hold, now
	if got := a.due(now.Add(retryAfter - time.Second)); got != 0 {
		t.Errorf("action %d too early", got)
	}
	if got := a.due(now.Add(retryAfter)); got != Hold {
		t.Errorf("action %d, want a second hold", got)
	}
}
