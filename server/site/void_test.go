package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestNamesOfAttemptsThatWereUndoneAreNotUsedAgain(t *testing.T) {
	s := &Site{}
	s.Void(batch.Key{Job: "a", Epoch: 0, Attempt: 1})
	s.Void(batch.Key{Job: "a", Epoch: 2, Attempt: 3})
	s.Void(batch.Key{Job: "a", Epoch: 2, Attempt: 2})
	for _, c := range []struct {
		job            batch.JobID
		under, attempt uint32
		want           uint32
	}{
		{"a", 0, 0, 2}, {"a", 1, 0, 1}, {"a", 2, 0, 4}, {"a", 2, 1, 4}, {"a", 2, 7, 8}, {"b", 0, 0, 1},
	} {
		if got := s.attemptAfter(c.job, c.under, c.attempt); got != c.want {
			t.Errorf("after attempt %d of job %s under %d: %d, want %d", c.attempt, c.job, c.under, got, c.want)
		}
	}
}
