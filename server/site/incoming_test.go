package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// tell sends s a message and returns the kind of its answer; 0: none.
func tell(s *Site, m *Message) MessageKind {
	a, _ := s.Receive(5, m, idle(m.Job, hour))
	return a.Kind
}

// about returns a message from a source to s about job a.
func about(kind MessageKind, from string, epoch uint32) *Message {
	m := reservation(from, "s", "a", epoch)
	m.Kind = kind
	if kind != Reserve {
		m.Parcel = nil
	}
	return m
}

func TestReserveGivesAJobASlotWithoutStartingIt(t *testing.T) {
	s := named(t, "s")
	m := reservation("t", "s", "a", 3)
	m.Parcel.Age, m.Parcel.Present, m.Parcel.Sent = 40, seconds(100), 1000
	m.Parcel.Moves[0].Ordered = 990
	a, reply := s.Receive(50, m, idle("a", 9))
	// On the idle machine the job runs for ten seconds from the next full second on.
	start := batch.Time(batch.Second)
	end := start.Add(seconds(10)).Sub(50)
	if !reply ||
		a != (Message{
			Kind: Reserved, From: "s", To: "t", Job: "a", Epoch: 3, Shape: m.Parcel.Dossier.Request.Menu[0],
			Completion: end,
		}) {
		t.Errorf("%+v", a)
	}
	j := wants(t, s, "a", Incoming)
	if j.Epoch != 3 || j.Under != 3 || j.Attempt != 1 || j.Submitted != 10 || j.Transit.Peer != "t" || !j.Kept {
		t.Errorf("%+v", j)
	}
	gain := seconds(100) - end
	same(t, "moves", j.Moves(),
		[]Move{{From: "t", To: "s", Epoch: 3, State: MovePending, Ordered: 40, Predicted: &gain}})
	key := batch.Key{Job: "a", Epoch: 3, Attempt: 1}
	fx := take(s, 50)
	if len(fx.Plans) != 1 || fx.Plans[0].Kind != batch.CmdReserve || fx.Plans[0].Key != key ||
		fx.Writes[0].Dossier == nil || len(fx.Commands)+len(fx.Messages) != 0 {
		t.Errorf("%+v", fx)
	}
	if s.Load() != (Load{Incoming: 1, Processors: 4}) {
		t.Errorf("%+v", s.Load())
	}
	if _, err := s.Starting(51, key); err == nil {
		t.Error("it starts")
	}
	// If the answer was lost, the source asks again: the slot is the same, and nearer by now.
	a, _ = s.Receive(70, m, idle("a", 9))
	if fx := take(s, 70); !fx.Empty() || a.Kind != Reserved || a.Completion != end-20 {
		t.Errorf("%+v, %+v", a, fx)
	}
	if a, _ = s.Receive(hour, m, nil); a.Completion != seconds(10) {
		t.Errorf("a slot whose start has passed: %+v", a)
	}
}

// TestTargetAnswersTheMessagesOfASource covers messages with the epoch of the job, with older and
// with later ones, from the job's source and from another site.
func TestTargetAnswersTheMessagesOfASource(t *testing.T) {
	const nothing = MessageKind(0)
	for _, tt := range []struct {
		name string
		from State // of "a": under epoch 1, from t where it is Incoming (then 3)
		m    *Message
		want MessageKind
		then State
	}{
		{"a repeated reservation", Incoming, about(Reserve, "t", 3), Reserved, Incoming},
		{"a reservation with a higher epoch", Incoming, about(Reserve, "t", 4), Reserved, Incoming},
		{"a higher reservation of another source", Incoming, about(Reserve, "u", 4), Reserved, Incoming},
		{"a reservation of another source", Incoming, about(Reserve, "u", 3), Superseded, Incoming},
		{"a late reservation", Incoming, about(Reserve, "t", 2), Superseded, Incoming},
		{"a reservation for a job that returns", Gone, about(Reserve, "t", 2), Reserved, Incoming},
		{"a reservation older than a handover", Gone, about(Reserve, "t", 1), Superseded, Gone},
		{"an impossible reservation", Waiting, about(Reserve, "t", 1), Refused, Waiting},
		{"a reservation for a job that ended here", Done, about(Reserve, "t", 1), Refused, Done},

		{"a confirmation", Incoming, about(Confirm, "t", 3), Confirmed, Waiting},
		{"a confirmation of another source", Incoming, about(Confirm, "u", 3), nothing, Incoming},
		{"a late confirmation", Incoming, about(Confirm, "t", 2), Superseded, Incoming},
		{"an impossible confirmation", Incoming, about(Confirm, "t", 4), nothing, Incoming},
		{"a late confirmation for a job that is gone", Gone, about(Confirm, "t", 0), Superseded, Gone},
		{"a confirmation without a reservation", Gone, about(Confirm, "t", 2), nothing, Gone},

		{"a drop", Incoming, about(Drop, "t", 3), Dropped, Absent},
		{"a drop of another source", Incoming, about(Drop, "u", 3), Dropped, Incoming},
		{"a late drop", Incoming, about(Drop, "t", 2), Dropped, Incoming},
		{"an impossible drop", Incoming, about(Drop, "t", 4), Dropped, Incoming},
		{"a drop of a job that belongs to this site", Waiting, about(Drop, "t", 0), Dropped, Waiting},
		{"a drop of a job that is gone", Gone, about(Drop, "t", 1), Dropped, Gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := in(t, tt.from)
			before := job(t, s, "a")
			if got := tell(s, tt.m); got != tt.want {
				t.Errorf("answers %v, want %v", got, tt.want)
			}
			j := wants(t, s, "a", tt.then)
			fx := take(s, 5)
			if j.Epoch != max(before.Epoch, tt.m.Epoch) && tt.want == Reserved {
				t.Errorf("epoch %d", j.Epoch)
			}
			if changed := tt.then != tt.from ||
				tt.want == Reserved && tt.m.Epoch != before.Epoch; changed == (j == before) || changed == fx.Empty() {
				t.Errorf("changed: %v, %+v", changed, fx)
			}
		})
	}
	s := named(t, "s")
	for kind, want := range map[MessageKind]MessageKind{Confirm: nothing, Drop: Dropped, Resolve: Pending} {
		if got := tell(s, about(kind, "t", 1)); got != want || s.Knows("a") {
			t.Errorf("%v of an unknown job: answer %v", kind, got)
		}
	}
}

func TestRepeatedConfirmIsAlwaysAcknowledged(t *testing.T) {
	s, key := in(t, Incoming)
	again := func(state State) {
		t.Helper()
		wants(t, s, "a", state)
		if got := tell(s, about(Confirm, "t", 3)); got != Confirmed {
			t.Errorf("%v: answers %v", state, got)
		}
	}
	again(Incoming)
	fx := take(s, 5)
	same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdConfirm, Key: key}})
	again(Waiting)
	if m := job(t, s, "a").Transit.Moves; m[0].State != MoveCommitted || m[0].Settled != 5 || s.Wake() != batch.Never {
		t.Errorf("%+v", m)
	}
	_, _ = s.Starting(6, key)
	again(Starting)
	_, _ = s.Running(6, key, nil, nil)
	again(Running)
	_, _ = s.Ended(7, key, batch.Outcome{End: batch.EndDone}, nil)
	again(Done)
	_ = s.Forget("a")
	again(Done)
	r := take(s, 8).Writes[0].Record
	_ = s.Recall(&r)
	again(Done)
}

// TestAReservationReplacesAnOlderOne: a source that asks under a higher epoch has aborted the
// lower one.
func TestAReservationReplacesAnOlderOne(t *testing.T) {
	s, key := in(t, Incoming)
	_, _ = s.Cancel(4, "a")
	if got := tell(s, about(Reserve, "u", 7)); got != Reserved {
		t.Fatal(got)
	}
	fx := take(s, 5)
	same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
	key.Epoch = 7
	if len(fx.Plans) != 1 || fx.Plans[0].Key != key || fx.Plans[0].Kind != batch.CmdReserve {
		t.Errorf("%+v", fx.Plans)
	}
	if j := wants(t, s, "a", Incoming); j.Cancel || j.Transit.Peer != "u" {
		t.Errorf("%+v", j)
	}
	if s.Load() != (Load{Incoming: 1, Processors: 4}) || len(s.book.timers) != 1 {
		t.Errorf("%+v, %d timers", s.Load(), len(s.book.timers))
	}
	// A refused reservation does not affect the older one: only a message of the older one's
	// source ends it.
	bad := about(Reserve, "u", 8)
	bad.Parcel.Dossier = &Dossier{Request: Request{Menu: menu(9, 1)}}
	if got := tell(s, bad); got != Refused {
		t.Error(got)
	}
	if j := wants(t, s, "a", Incoming); j.Epoch != 7 {
		t.Errorf("%+v", j)
	}
}

func TestAHigherReservationAcknowledgesAHandover(t *testing.T) {
	s, _ := in(t, Gone)
	if got := tell(s, about(Reserve, "u", 4)); got != Reserved {
		t.Fatal(got)
	}
	if s.Tick(hour); kinds(take(s, 5).Messages)[0] != Resolve {
		t.Error("the handover is still being confirmed")
	}
	// After the drop the job is gone to t, as before, and the handover needs no further message.
	tell(s, about(Drop, "u", 4))
	j := wants(t, s, "a", Gone)
	fx := take(s, 6)
	if j.MovedTo() != "t" || j.Epoch != 4 || !j.Transit.Acked || s.Wake() != batch.Never || fx.Writes[0].Until == 0 {
		t.Errorf("%+v, %+v", j, fx)
	}
	r := fx.Writes[0].Record
	_ = s.Recall(&r)
	if got := tell(s, about(Resolve, "t", 1)); got != Committed {
		t.Error(got)
	}
	if got := tell(s, about(Reserve, "u", 4)); got != Superseded {
		t.Errorf("a late duplicate of the dropped reservation: %v", got)
	}
}

func TestDroppedJobKeepsItsEpoch(t *testing.T) {
	s, key := in(t, Incoming)
	tell(s, about(Drop, "t", 3))
	fx := take(s, 5)
	same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
	same(t, "discard", fx.Discard, []batch.JobID{"a"})
	if w := fx.Writes[0]; w.Record.State != "absent" || w.Record.Epoch != 3 || w.Until == 0 || s.Knows("a") {
		t.Errorf("%+v", w)
	}
	if _, err := s.Job("a"); err == nil {
		t.Error("the dropped job is known")
	}
	r := fx.Writes[0].Record
	_ = s.Recall(&r)
	if got := tell(s, about(Reserve, "t", 3)); got != Superseded {
		t.Errorf("a late duplicate: %v", got)
	}
	if got := tell(s, about(Confirm, "t", 3)); got != 0 {
		t.Errorf("a confirmation of the dropped reservation: %v", got)
	}
	if got := tell(s, about(Reserve, "t", 4)); got != Reserved {
		t.Errorf("a reservation of the next epoch: %v", got)
	}
}

func TestReserveIsRefusedIfTheJobCannotRunHere(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"too wide": func(r *Request) { r.Menu = menu(5, 1) },
		"too late": func(r *Request) { r.Deadline = 6 },
	} {
		s := named(t, "s")
		m := about(Reserve, "t", 1)
		change(&m.Parcel.Dossier.Request)
		a, reply := s.Receive(5, m, idle("a", 9))
		if !reply || a.Kind != Refused || a.Why == "" || s.Knows("a") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	s := named(t, "s")
	if a, _ := s.Receive(5, about(Reserve, "t", 1), &desk{rectangles: rectangles{silent: true}}); a.Kind != Refused {
		t.Errorf("without a plan: %+v", a)
	}
}

func TestGainOfAMoveIsRecorded(t *testing.T) {
	for name, tt := range map[string]struct {
		present batch.Duration
		tried   bool // another move from here was aborted
		end     batch.End
		want    bool
	}{
		"a job that ended":                  {seconds(100), false, batch.EndDone, true},
		"a job with an aborted second move": {seconds(100), true, batch.EndDone, true},
		"a job that was killed":             {seconds(100), false, batch.EndKilled, false},
		"unknown end at the source":         {batch.Forever, false, batch.EndDone, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := named(t, "s")
			m := about(Reserve, "t", 3)
			m.Parcel.Present = tt.present
			tell(s, m)
			tell(s, about(Confirm, "t", 3))
			if tt.tried {
				_, _ = s.Move(6, MoveRequest{Job: "a", To: "u", Seen: 3}, idle("a", 99))
				s.Receive(6, &Message{Kind: Refused, From: "u", Job: "a", Epoch: 4}, nil)
			}
			_, _ = s.Ended(9, batch.Key{Job: "a", Epoch: 3, Attempt: 1}, batch.Outcome{End: tt.end}, nil)
			j := job(t, s, "a")
			got := j.Moves()[0].Realized
			if (got != nil) != tt.want || tt.want && *got != seconds(100)+5-9 {
				t.Errorf("%+v", j.Moves())
			}
			if tt.tried && j.Moves()[1].Realized != nil {
				t.Error("the aborted move has a realized gain")
			}
		})
	}
}

func TestReturningJobKeepsItsPositionInLists(t *testing.T) {
	s := named(t, "s")
	tell(s, about(Reserve, "t", 1))
	first, _ := s.List(Filter{}, 0, 0)
	tell(s, about(Reserve, "t", 2)) // the source aborted the first one
	again, _ := s.List(Filter{}, 0, 0)
	if len(first) != 1 || len(again) != 1 || first[0].Serial == 0 || again[0].Serial != first[0].Serial {
		t.Errorf("%+v, then %+v", first, again)
	}
}
