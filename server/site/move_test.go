package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

const hour = batch.Time(batch.Hour)

// answer returns a message from t to s about job a.
func answer(kind MessageKind, epoch uint32) *Message {
	return &Message{
		Kind: kind, From: "t", To: "s", Job: "a", Epoch: epoch, Shape: batch.Shape{Width: 2, Walltime: seconds(10)},
		Completion: seconds(60),
	}
}

func TestOrdersToMoveAreRefused(t *testing.T) {
	for state := Waiting; state <= Incoming; state++ {
		s, key := in(t, state)
		before := job(t, s, "a")
		_, err := s.Move(2, MoveRequest{Job: "a", To: "t", Seen: before.Epoch + 1}, idle("a", 99))
		refused(t, err, problem.StaleEpoch, "seen_epoch")
		if state != Waiting {
			_, err = s.Move(2, MoveRequest{Job: "a", To: "t", Seen: before.Epoch}, idle("a", 99))
			refused(t, err, problem.NotWaiting, "job_id")
		}
		if fx := take(s, 2); !fx.Empty() || job(t, s, "a") != before {
			t.Errorf("%v: refused, with %+v", state, fx)
		}
		_ = key
	}
	s, _ := in(t, Waiting)
	for _, to := range []string{"", "s"} {
		_, err := s.Move(2, MoveRequest{Job: "a", To: to}, idle("a", 99))
		refused(t, err, problem.BadValue, "to")
	}
	submit(t, s, 0, "l", &Request{Menu: menu(1, 1), Origin: batch.Local})
	_, err := s.Move(2, MoveRequest{Job: "l", To: "t"}, idle("l", 99))
	refused(t, err, problem.NotMovable, "job_id")
}

func TestMoveSendsReserve(t *testing.T) {
	s := named(t, "s")
	submit(t, s, 10, "a", &Request{Menu: menu(2, 10)})
	take(s, 10)
	j, err := s.Move(30, MoveRequest{Job: "a", To: "t", MinGain: seconds(5), Reason: "sooner", Agent: "g"},
		idle("a", 100))
	if err != nil || j.State != Moving || j.Epoch != 1 || j.Under != 0 {
		t.Fatalf("%+v %v", j, err)
	}
	fx := take(s, 30)
	if len(fx.Messages) != 1 || len(fx.Plans)+len(fx.Commands)+len(fx.Claims) != 0 ||
		fx.Writes[0].Record.State != "moving" {
		t.Fatalf("%+v", fx)
	}
	m := fx.Messages[0]
	if m.Kind != Reserve || m.From != "s" || m.To != "t" || m.Epoch != 1 || m.Parcel.Age != 20 ||
		m.Parcel.Present != 70 || m.Parcel.Sent != 30 || m.Parcel.Dossier == nil {
		t.Errorf("%+v, %+v", m, m.Parcel)
	}
	same(t, "moves", m.Parcel.Moves,
		[]Move{{
			From: "s", To: "t", Epoch: 1, State: MovePending, Ordered: 30, Reason: "sooner", Agent: "g",
			MinGain: seconds(5),
		}})
	// A repeated message has the remaining time at its own sending.
	s.Tick(s.Wake())
	if m := take(s, 30).Messages[0]; m.Kind != Reserve || m.Epoch != 1 || m.Parcel.Present != 0 {
		t.Errorf("%+v, %+v", m, m.Parcel)
	}
	// A job with an unknown end and a released dossier.
	queue(t, s, "b")
	take(s, 30)
	s.ReleaseDossier("b")
	_, _ = s.Move(30, MoveRequest{Job: "b", To: "t"}, idle("a", 9))
	if p := take(s, 30).Messages[0].Parcel; p.Present != batch.Forever || p.Dossier != nil {
		t.Errorf("%+v", p)
	}
}

// TestGainIsEstimatedAgainBeforeTheCommit: the source compares again when the target has
// answered. At the target the job would end in a minute.
func TestGainIsEstimatedAgainBeforeTheCommit(t *testing.T) {
	for name, tt := range map[string]struct {
		end     batch.Time // at this site; 0: unknown
		minGain batch.Duration
		want    State
	}{
		"enough":                        {hour, seconds(60 * 59), Yielding},
		"too little":                    {hour, seconds(60*59) + 1, Waiting},
		"a loss":                        {batch.Time(seconds(30)), 0, Waiting},
		"a loss, any gain accepted":     {batch.Time(seconds(30)), AnyGain, Yielding},
		"unknown":                       {0, 0, Waiting},
		"unknown, any gain accepted":    {0, AnyGain, Yielding},
		"never here, any gain accepted": {batch.Never, AnyGain, Yielding},
		"never here":                    {batch.Never, 0, Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			s := named(t, "s")
			key := queue(t, s, "a")
			_, _ = s.Move(0, MoveRequest{Job: "a", To: "t", MinGain: tt.minGain}, idle("a", hour))
			take(s, 0)
			plan := idle("a", tt.end)
			if tt.end == 0 {
				plan = idle("", 0)
			}
			s.Receive(0, answer(Reserved, 1), plan)
			j := wants(t, s, "a", tt.want)
			fx := take(s, 0)
			if tt.want == Waiting {
				same(t, "messages", kinds(fx.Messages), []MessageKind{Drop})
				if m := j.Moves()[0]; m.State != MoveAborted || m.Why == "" || len(fx.Claims) != 0 || j.Epoch != 1 ||
					s.Wake() != batch.Never {
					t.Errorf("%+v, %+v", m, fx)
				}
				return
			}
			same(t, "claims", fx.Claims, []batch.Key{key})
			predicted := j.Moves()[0].Predicted
			if known := tt.end != 0 && tt.end != batch.Never; len(fx.Messages) != 0 || known != (predicted != nil) ||
				known && *predicted != tt.end.Sub(batch.Time(seconds(60))) {
				t.Errorf("%+v, predicted %v", fx, predicted)
			}
		})
	}
}

func TestAnswersOfAnotherMoveAreIgnored(t *testing.T) {
	for state := Waiting; state <= Incoming; state++ {
		for kind := Reserve; kind <= Superseded; kind++ {
			if kind == Reserve || kind == Confirm || kind == Drop || kind == Resolve {
				continue
			}
			s, _ := in(t, state)
			before := job(t, s, "a")
			old, late := answer(kind, before.Epoch), answer(kind, before.Epoch)
			old.Epoch--
			late.Epoch++
			other := answer(kind, before.Epoch)
			other.From = "u"
			unknown := answer(kind, 1)
			unknown.Job = "b"
			messages := []*Message{old, late, other, unknown}
			if state != Moving && state != Gone && state != Incoming {
				messages = append(messages, answer(kind, before.Epoch))
			}
			for _, m := range messages {
				if _, reply := s.Receive(2, m, idle("a", hour)); reply {
					t.Error("the site replies to an answer")
				}
			}
			if fx := take(s, 2); !fx.Empty() || job(t, s, "a") != before {
				t.Errorf("%v takes %v: %+v", state, kind, fx)
			}
		}
	}
}

func TestAnswersOfTheTarget(t *testing.T) {
	for _, tt := range []struct {
		from State
		kind MessageKind
		want State
		sent []MessageKind
	}{
		{Moving, Reserved, Yielding, nil},
		{Moving, Refused, Waiting, []MessageKind{Drop}},
		{Moving, Superseded, Waiting, []MessageKind{Drop}},
		{Moving, Confirmed, Moving, nil},
		{Moving, Committed, Moving, nil},
		{Moving, Aborted, Moving, nil},
		{Moving, Pending, Moving, nil},
		{Moving, Dropped, Moving, nil},
		{Yielding, Reserved, Yielding, nil},
		{Yielding, Refused, Yielding, nil},
		{Yielding, Superseded, Yielding, nil},
		{Gone, Reserved, Gone, nil},
		{Gone, Refused, Gone, nil},
		{Gone, Confirmed, Gone, nil},
		{Gone, Superseded, Gone, nil},
	} {
		s, _ := in(t, tt.from)
		before := job(t, s, "a")
		s.Receive(2, answer(tt.kind, 1), idle("a", hour))
		j := wants(t, s, "a", tt.want)
		if fx := take(s, 2); tt.want != tt.from || tt.from != Gone {
			same(t, tt.kind.String(), kinds(fx.Messages), tt.sent)
		}
		if acked := tt.from == Gone && (tt.kind == Confirmed || tt.kind == Superseded); acked != j.Transit.Acked {
			t.Errorf("%v takes %v: acknowledged %v", tt.from, tt.kind, j.Transit.Acked)
		} else if !acked && tt.want == tt.from && j != before {
			t.Errorf("%v takes %v: changed", tt.from, tt.kind)
		}
	}
}

func TestAnAcknowledgedJobLeavesATombstone(t *testing.T) {
	s, _ := in(t, Gone)
	if err := s.Forget("a"); err == nil {
		t.Error("a job was forgotten before its handover was acknowledged")
	}
	s.Receive(2, answer(Confirmed, 1), nil)
	fx := take(s, 2)
	same(t, "discard", fx.Discard, []batch.JobID{"a"})
	if len(fx.Writes) != 1 || fx.Writes[0].Until != batch.Time(2).Add(Horizon) || !fx.Writes[0].Forget || s.Knows("a") {
		t.Fatalf("%+v", fx)
	}
	// The tombstone still has the target and the outcome of the move.
	if err := s.Recall(&fx.Writes[0].Record); err != nil {
		t.Fatal(err)
	}
	j := wants(t, s, "a", Gone)
	if got, _ := s.Cancel(3, "a"); j.MovedTo() != "t" || got.MovedTo() != "t" {
		t.Errorf("%+v", j)
	}
	if a, reply := s.Receive(3, answer(Resolve, 1), nil); !reply || a.Kind != Committed {
		t.Errorf("%+v", a)
	}
	if err := s.Forget("a"); err != nil {
		t.Error(err)
	}
	if fx := take(s, 3); !fx.Empty() {
		t.Errorf("%+v", fx)
	}
}

func TestMovingJobCanStart(t *testing.T) {
	s, key := in(t, Moving)
	if j, err := s.Starting(2, key); err != nil || j.State != Starting || j.Epoch != 1 || j.Under != 0 {
		t.Fatalf("%+v %v", j, err)
	}
	same(t, "messages", kinds(take(s, 2).Messages), []MessageKind{Drop})
	s.Receive(3, answer(Reserved, 1), idle("a", hour))
	wants(t, s, "a", Starting)
	if s.Wake() != batch.Never {
		t.Error("a timer is still set")
	}
}

// TestResolveIsAnsweredForEveryAssignedEpoch follows a job through moves with every outcome.
func TestResolveIsAnsweredForEveryAssignedEpoch(t *testing.T) {
	s := named(t, "s")
	key := queue(t, s, "a")
	verdicts := func(want ...MessageKind) {
		t.Helper()
		var got []MessageKind
		for e := range uint32(len(want)) {
			a, reply := s.Receive(9, &Message{Kind: Resolve, From: "anybody", Job: "a", Epoch: e}, nil)
			if !reply {
				t.Fatal("no answer")
			}
			got = append(got, a.Kind)
		}
		same(t, "verdicts", got, want)
	}
	move := func(seen uint32) {
		t.Helper()
		if _, err := s.Move(1, MoveRequest{Job: "a", To: "t", Seen: seen, MinGain: AnyGain},
			idle("a", hour)); err != nil {
			t.Fatal(err)
		}
	}
	verdicts(Pending, Pending, Pending)
	move(0)
	verdicts(Pending, Pending, Pending)
	s.Receive(2, answer(Refused, 1), nil)
	verdicts(Pending, Aborted, Pending)
	move(1)
	s.Receive(2, answer(Reserved, 2), idle("a", hour))
	verdicts(Pending, Aborted, Pending, Pending)
	s.Claimed(3, key, true)
	verdicts(Pending, Aborted, Committed, Pending)
	// The job returns under epoch 5 and leaves under epoch 6.
	s.Receive(4, reservation("t", "s", "a", 5), idle("a", 9))
	verdicts(Pending, Aborted, Committed, Pending, Pending, Pending)
	s.Receive(4, answer(Confirm, 5), nil)
	verdicts(Pending, Aborted, Committed, Pending, Pending, Pending)
	move(5)
	verdicts(Pending, Aborted, Committed, Pending, Pending, Pending, Pending)
	if _, err := s.Ended(5, batch.Key{Job: "a", Epoch: 5, Attempt: 1}, batch.Outcome{End: batch.EndDone},
		nil); err != nil {
		t.Fatal(err)
	}
	all := []MessageKind{Pending, Aborted, Committed, Pending, Pending, Pending, Aborted, Pending}
	verdicts(all...)
	_ = s.Forget("a")
	r := take(s, 6).Writes[0].Record
	if err := s.Recall(&r); err != nil {
		t.Fatal(err)
	}
	verdicts(all...)
	if a, reply := s.Receive(9, &Message{Kind: Resolve, Job: "unheard of", Epoch: 1}, nil); !reply ||
		a.Kind != Pending {
		t.Errorf("an unknown job: %+v", a)
	}
}

func TestHistoriesAreBounded(t *testing.T) {
	s := named(t, "s")
	queue(t, s, "a")
	for e := range uint32(maxMoves + 10) {
		if _, err := s.Move(1, MoveRequest{Job: "a", To: "t", Seen: e}, idle("a", 99)); err != nil {
			t.Fatal(err)
		}
		s.Receive(2, answer(Refused, e+1), nil)
	}
	j := job(t, s, "a")
	if m := j.Moves(); len(m) != maxMoves || m[0].Epoch != 11 || m[len(m)-1].Epoch != maxMoves+10 {
		t.Errorf("%d moves, from epoch %d", len(m), m[0].Epoch)
	}
	same(t, "verdicts", j.Transit.Assigned, []Verdict{{First: 1, Epoch: maxMoves + 10}})
}
