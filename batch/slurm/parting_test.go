package slurm

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// A slurmd dies, and what it has started lives: Slurm says that the node has failed.
func TestAnAttemptThatSlurmHasGivenUpIsToldToStopBeforeItIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		stops   bool
		reports int
	}{
		"it stops":       {`while [ ! -e "$0" ]; do sleep 0.1; done; exit 9`, true, 1},
		"it cannot hear": {"sleep 100", false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, 1)
			key := s.submit(1, 1, batch.Hour, "sh -c '"+c.program+"' "+s.file(attemptOf(1), "stop"))
			s.awaitPhase(key, batch.PhaseRunning)
			s.cluster.KillNode(0)
			s.cluster.Run(t, "scontrol", "update", "NodeName=an1", "State=DOWN", "Reason=test")
			f := s.awaitPhase(key, batch.PhaseEnded)
			testimony, err := s.Look(key)
			if err != nil || f.Outcome.End != batch.EndLost || testimony.Ended.IsZero() == c.stops {
				t.Errorf("%+v, %+v, %v", f.Outcome, testimony, err)
			}
			if n := s.reported(key); n != c.reports {
				t.Errorf("%d reports, want %d", n, c.reports)
			}
			slurmtest.Until(t, "nothing is in Slurm", func() bool { return s.queued() == 0 })
		})
	}
}

func TestWordOfAnAttemptThatHasStoppedIsAReportIfItWasTakenForLost(t *testing.T) {
	s := start(t, 1)
	s.System.mu.Lock()
	s.attempts[attemptOf(1)] = &attempt{key: attemptOf(1), stage: over}
	s.stopped(attemptOf(1), "here")
	s.attempts[attemptOf(2)] = &attempt{key: attemptOf(2), stage: over, astray: true}
	s.stopped(attemptOf(2), "here")
	s.System.mu.Unlock()
	if s.reported(attemptOf(1)) != 0 || s.reported(attemptOf(2)) != 1 {
		t.Errorf("%d reports of one that has stopped in time, %d of one that has not", s.reported(attemptOf(1)), s.reported(attemptOf(2)))
	}
}
