package site

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// TestLoadMatchesTheJobs makes random calls and compares the load with a full count after each
// one.
func TestLoadMatchesTheJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Config{Name: "s", Platform: batch.Platform{Nodes: []batch.Node{{Processors: 8, Memory: 16}}}})
		if err != nil {
			t.Fatal(err)
		}
		ids := []batch.JobID{"a", "b", "c", "d"}
		ended := int64(0)
		was := make(map[batch.JobID]State)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			call(t, s, rapid.SampledFrom(ids).Draw(t, "job"))
			want := Load{Processors: 8}
			for _, j := range s.book.byID {
				if invalid := j.invalid(); invalid != "" {
					t.Fatalf("job %s that is %v: %s", j.ID, j.State, invalid)
				}
				charge := s.charge(j)
				switch {
				case j.busy:
					want.Running++
					want.Busy += charge
				case j.State == Incoming:
					want.Incoming++
				case j.State != Absent && !j.State.Final():
					want.Waiting++
					want.Backlog = want.Backlog.Add(batch.AreaOf(charge, j.Shape.Walltime))
				}
				if j.State.Final() && j.State != Gone && was[j.ID] != j.State {
					ended++
				}
				was[j.ID] = j.State
			}
			want.Ended = ended
			if got := s.Load(); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
			if i := rapid.IntRange(0, 5).Draw(t, "take"); i == 0 {
				take(s, 1)
			}
		}
	})
}

// call makes a random call about a job.
func call(t *rapid.T, s *Site, id batch.JobID) {
	const now = 1
	var key batch.Key
	var epoch uint32
	if j := s.book.byID[id]; j != nil {
		key, epoch = j.Key(), j.Epoch
	}
	message := func(k MessageKind) {
		e := epoch + uint32(rapid.IntRange(0, 1).Draw(t, "later"))
		m := reservation("t", "s", id, e)
		m.Kind = k
		s.Receive(now, m, idle(id, batch.Time(batch.Hour)))
	}
	switch rapid.IntRange(0, 13).Draw(t, "call") {
	case 0, 1:
		r := &Request{
			Menu:   menu(rapid.Int64Range(1, 4).Draw(t, "width"), rapid.Int64Range(1, 99).Draw(t, "walltime")),
			Memory: rapid.Int64Range(0, 4).Draw(t, "memory"),
		}
		_, _ = s.Submit(now, Submission{ID: id, Request: r}, instant{})
	case 2:
		_, _ = s.Starting(now, key)
	case 3:
		_, _ = s.Running(now, key, nil, nil)
	case 4:
		_, _ = s.Ended(now, key, batch.Outcome{End: batch.End(rapid.IntRange(1, 7).Draw(t, "end"))}, nil)
	case 5:
		_, _ = s.Cancel(now, id)
	case 6:
		s.Claimed(now, key, rapid.Bool().Draw(t, "won"))
	case 7:
		_, _ = s.Move(now, MoveRequest{Job: id, To: "t", Seen: epoch}, idle(id, batch.Time(batch.Hour)))
	case 8:
		_, _ = s.Hold(now, "r", batch.Minute, nil)
	case 9:
		_, _ = s.Place(now, "r", "", []Placement{{Job: id, To: rapid.SampledFrom([]string{"", "t"}).Draw(t, "to")}})
	case 10:
		_, _ = s.Withdraw(now, id)
	case 11:
		_ = s.Forget(id)
	case 12:
		_, _ = s.Settle(now, id, epoch, Settlement(rapid.IntRange(1, 3).Draw(t, "settlement")), "")
	default:
		message(MessageKind(rapid.IntRange(1, int(Superseded)).Draw(t, "message")))
	}
}
