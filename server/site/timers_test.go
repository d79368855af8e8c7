package site

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// TestTimersFireInOrder compares the heap with a map of what was set last.
func TestTimersFireInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Site{}
		jobs := make([]*Job, 6)
		for i := range jobs {
			jobs[i] = &Job{ID: batch.JobID(fmt.Sprint(i)), State: Waiting} // no messages are due for these
		}
		set := make(map[*Job]batch.Time)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if now := batch.Time(rapid.IntRange(0, 9).Draw(t, "now")); rapid.IntRange(0, 4).Draw(t, "tick") == 0 {
				s.Tick(now)
				for j, due := range set {
					if due <= now {
						delete(set, j)
					}
				}
			} else {
				j := jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "job")]
				due := rapid.SampledFrom([]batch.Time{1, 2, 3, 5, 8, batch.Never}).Draw(t, "due")
				s.arm(j, due)
				set[j] = due
				if due == batch.Never {
					delete(set, j)
				}
			}
			want := batch.Never
			for _, due := range set {
				want = min(want, due)
			}
			if got := s.Wake(); got != want || len(s.book.timers) != len(set) {
				t.Fatalf("wakes at %v with %d timers, want %v with %d", got, len(s.book.timers), want, len(set))
			}
			for i, at := range s.book.timers {
				if int(at.job.slot) != i+1 || set[at.job] != at.due {
					t.Fatalf("job %s is in slot %d, not %d, due %v, not %v", at.job.ID, at.job.slot, i+1, at.due,
						set[at.job])
				}
			}
		}
		s.Tick(batch.Never) // ends
	})
}

// sent advances to an instant and returns the seconds at which messages of a kind were sent.
func sent(s *Site, until batch.Time, kind MessageKind) []int64 {
	var at []int64
	for s.Wake() <= until {
		now := s.Wake()
		s.Tick(now)
		for _, m := range take(s, now).Messages {
			if m.Kind == kind {
				at = append(at, int64(now)/int64(batch.Second))
			}
		}
	}
	return at
}

func TestMessagesAreRepeatedAtGrowingIntervals(t *testing.T) {
	minutes := func(n int64) batch.Time { return batch.Time(n) * batch.Time(batch.Minute) }
	s := named(t, "s")
	queue(t, s, "a")
	_, _ = s.Move(0, MoveRequest{Job: "a", To: "t", MinGain: AnyGain}, idle("a", 99))
	same(t, "reserve", kinds(take(s, 0).Messages), []MessageKind{Reserve})
	same(t, "reserve", sent(s, minutes(2), Reserve), []int64{1, 3, 7, 15, 31, 61, 91})
	s.Receive(minutes(2), &Message{Kind: Reserved, From: "t", Job: "a", Epoch: 1}, idle("a", minutes(60)))
	same(t, "while it is handed over", s.Wake(), batch.Never)
	s.Claimed(minutes(2), batch.Key{Job: "a", Attempt: 1}, true)
	take(s, minutes(2))
	same(t, "confirm", sent(s, minutes(3), Confirm), []int64{121, 123, 127, 135, 151})
	// The message is repeated without limit.
	if n := len(sent(s, minutes(60*24), Confirm)); n != (24*60-3)*2 {
		t.Errorf("%d messages in a day", n)
	}
	s.Receive(minutes(60*24), &Message{Kind: Confirmed, From: "t", Job: "a", Epoch: 1}, nil)
	same(t, "after the acknowledgement", s.Wake(), batch.Never)

	s = named(t, "s")
	s.Receive(0, reservation("t", "s", "b", 1), idle("b", 9))
	take(s, 0)
	same(t, "resolve", sent(s, minutes(1), Resolve), []int64{1, 3, 7, 15, 31})
}

func TestMoveWithoutAnswerIsAborted(t *testing.T) {
	s := named(t, "s")
	queue(t, s, "a")
	_, _ = s.Move(0, MoveRequest{Job: "a", To: "t", MinGain: AnyGain}, idle("a", 99))
	take(s, 0)
	end := batch.Time(DefaultPatience.Move)
	same(t, "dropped", sent(s, end-1, Drop), nil)
	same(t, "wakes", s.Wake(), end)
	same(t, "dropped", sent(s, end, Drop), []int64{600})
	if j := wants(t, s, "a", Waiting); j.Moves()[0].Why != "no answer in time" || s.Wake() != batch.Never {
		t.Errorf("%+v", j.Moves())
	}
}

func TestAnIncomingJobMakesRoomAfterAWhile(t *testing.T) {
	s := named(t, "s")
	s.Receive(0, reservation("t", "s", "a", 1), idle("a", 9))
	take(s, 0)
	var holds []batch.Time
	for s.Wake() < batch.Time(5*batch.Minute) {
		now := s.Wake()
		s.Tick(now)
		for _, c := range take(s, now).Commands {
			if c.Kind == batch.CmdHold && c.Key == (batch.Key{Job: "a", Epoch: 1, Attempt: 1}) {
				holds = append(holds, now)
			}
		}
	}
	same(t, "holds", holds, []batch.Time{batch.Time(31 * batch.Second)})
	if j := wants(t, s, "a", Incoming); !j.Transit.Idle {
		t.Error("the job takes capacity")
	}
}
