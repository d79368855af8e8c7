package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestAJobThatWasLaunchedIsCancelledByTheBatchSystem(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  bool // it runs when the cancel comes
		end  batch.End
		want State
	}{
		{"a starting job", false, batch.EndCancelled, Cancelled},
		{"a starting job that never ran", false, batch.EndNeverRan, Cancelled},
		{"a running job", true, batch.EndCancelled, Cancelled},
		{"a job that ended by itself first", true, batch.EndDone, Done},
		{"a job whose end nobody saw", true, batch.EndLost, Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := named(t, "s")
			j := submit(t, s, 0, "a", &Request{Menu: menu(3, 10), Idempotent: true})
			key := j.Key()
			_, _ = s.Starting(1, key)
			if tt.run {
				_, _ = s.Running(1, key, nil, nil)
			}
			changes := job(t, s, "a").Revision
			take(s, 1)
			for range 2 { // a client repeats until it hears the outcome
				got, err := s.Cancel(1, "a")
				if err != nil || got.State != Cancelling || !got.Cancel || got.Revision != changes+1 {
					t.Fatalf("%+v %v", got, err)
				}
				fx := take(s, 1)
				same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
				if len(fx.Claims) != 0 {
					t.Error("the claim of an attempt that was launched is made")
				}
			}
			if got, err := s.Ended(3, key, batch.Outcome{End: tt.end}, nil); err != nil || got.State != tt.want || got.Cancel {
				t.Errorf("%+v %v", got, err)
			}
			take(s, 3)
			if got, err := s.Cancel(4, "a"); err != nil || got.State != tt.want {
				t.Errorf("after the end: %v %v", got.State, err)
			}
			if fx := take(s, 4); !fx.Empty() {
				t.Errorf("after the end: %+v", fx)
			}
			if l := s.Load(); l != (Load{Ended: 1, Processors: 4}) {
				t.Errorf("load %+v", l)
			}
		})
	}
}

// TestAWaitingJobIsCancelledByItsClaim: whoever makes the claim decides whether it
// has started.
func TestAWaitingJobIsCancelledByItsClaim(t *testing.T) {
	for _, from := range []State{Waiting, Held, Moving} {
		for _, won := range []bool{true, false} {
			t.Run(from.String(), func(t *testing.T) {
				s, key := in(t, from)
				for range 2 {
					if j, err := s.Cancel(2, "a"); err != nil || j.State != Cancelling || !j.Cancel {
						t.Fatalf("%+v %v", j, err)
					}
				}
				fx := take(s, 2)
				same(t, "claims", fx.Claims, []batch.Key{key})
				if len(fx.Commands) != 0 {
					t.Errorf("commands before the claim: %+v", fx.Commands)
				}
				if drops := len(fx.Messages); (from == Moving) != (drops == 1) {
					t.Errorf("messages: %+v", fx.Messages)
				}
				if s.Wake() != batch.Never {
					t.Error("a timer is left")
				}
				if _, err := s.Starting(2, key); err == nil {
					t.Error("it starts while its claim is on its way")
				}
				if _, err := s.Ended(2, key, batch.Outcome{End: batch.EndNeverRan}, nil); err != nil {
					t.Error(err)
				}
				wants(t, s, "a", Cancelling)
				s.Claimed(3, key, won)
				same(t, "commands", take(s, 3).Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
				if won {
					j := wants(t, s, "a", Cancelled)
					if j.Cancel || j.Ended != 3 || j.Outcome().End != batch.EndCancelled || s.Load() != (Load{Ended: 1, Processors: 4}) {
						t.Errorf("%+v, %+v", j, s.Load())
					}
				} else if j := wants(t, s, "a", Cancelling); !j.busy || s.Load().Busy != 2 {
					t.Errorf("%+v, %+v", j, s.Load())
				}
				before := job(t, s, "a")
				s.Claimed(4, key, true) // an answer that comes twice
				if job(t, s, "a") != before {
					t.Error("the second answer to a claim changes something")
				}
			})
		}
	}
}

// TestACancelIsNotLostWhereTheBatchSystemSpeaksFirst: a batch system that starts
// jobs by itself may say that one runs before its claim is answered.
func TestACancelIsNotLostWhereTheBatchSystemSpeaksFirst(t *testing.T) {
	for _, from := range []State{Waiting, Yielding} {
		s, key := in(t, from)
		_, _ = s.Cancel(2, "a")
		if j, err := s.Running(3, key, []string{"n"}, nil); err != nil || j.State != Cancelling || j.Started != 3 || s.Load().Busy != 2 {
			t.Errorf("%v: %+v %v", from, j, err)
		}
		s.Claimed(4, key, false)
		if fx := take(s, 4); len(fx.Commands) == 0 || fx.Commands[0] != (batch.Command{Kind: batch.CmdCancel, Key: key}) {
			t.Errorf("%v: commands %+v", from, fx.Commands)
		}
		wants(t, s, "a", Cancelling)
	}
}

func TestACancelOfAJobThatIsHandedOverIsRecorded(t *testing.T) {
	t.Run("claim won", func(t *testing.T) {
		s, key := in(t, Yielding)
		if j, err := s.Cancel(2, "a"); err != nil || j.State != Yielding || !j.Cancel {
			t.Fatalf("%+v %v", j, err)
		}
		s.Claimed(3, key, true)
		fx := take(s, 3)
		same(t, "messages", kinds(fx.Messages), []MessageKind{Drop})
		wants(t, s, "a", Cancelled)
	})
	t.Run("claim lost", func(t *testing.T) {
		s, key := in(t, Yielding)
		_, _ = s.Cancel(2, "a")
		s.Claimed(3, key, false)
		fx := take(s, 3)
		same(t, "messages", kinds(fx.Messages), []MessageKind{Drop})
		same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
		if j := wants(t, s, "a", Cancelling); !j.busy {
			t.Error("it holds no processors")
		}
	})
}

func TestACancelOfAnIncomingJobIsAppliedWhenItArrives(t *testing.T) {
	for _, tt := range []struct {
		news MessageKind
		want State
	}{{Confirm, Cancelled}, {Committed, Cancelled}, {Drop, Absent}, {Aborted, Absent}} {
		s, key := in(t, Incoming)
		if j, err := s.Cancel(2, "a"); err != nil || j.State != Incoming || !j.Cancel {
			t.Fatalf("%+v %v", j, err)
		}
		s.Receive(3, &Message{Kind: tt.news, From: "t", Job: "a", Epoch: 3}, nil)
		j := wants(t, s, "a", tt.want)
		if j.Cancel {
			t.Errorf("%v: the cancel is still recorded", tt.news)
		}
		if fx := take(s, 3); len(fx.Commands) != 1 || fx.Commands[0] != (batch.Command{Kind: batch.CmdCancel, Key: key}) {
			t.Errorf("%v: %+v", tt.news, fx.Commands)
		}
	}
}
