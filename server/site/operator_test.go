package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestAnOperatorSettlesAMove(t *testing.T) {
	t.Run("committed", func(t *testing.T) {
		s, key := in(t, Incoming)
		j, err := s.Settle(5, "a", 3, SettleCommitted, "t burnt down")
		if err != nil || j.State != Waiting || j.Epoch != 3 || j.Moves()[0].State != MoveCommitted ||
			j.Moves()[0].Why != settled+"t burnt down" {
			t.Errorf("%+v %v", j, err)
		}
		same(t, "commands", take(s, 5).Commands, []batch.Command{{Kind: batch.CmdConfirm, Key: key}})
		if got := tell(s, about(Confirm, "t", 3)); got != Confirmed {
			t.Error(got)
		}
	})
	t.Run("committed, at the source", func(t *testing.T) {
		s, _ := in(t, Gone)
		j, err := s.Settle(5, "a", 1, SettleCommitted, "it went on before t burnt down")
		if err != nil || j.State != Gone || !j.Transit.Acked || j.Kept {
			t.Errorf("%+v %v", j, err)
		}
		if fx := take(s, 5); s.Wake() != batch.Never || len(fx.Discard) != 1 || len(fx.Messages) != 0 {
			t.Errorf("%+v", fx)
		}
	})
	t.Run("aborted", func(t *testing.T) {
		s, _ := in(t, Incoming)
		if _, err := s.Settle(5, "a", 3, SettleAborted, "t burnt down"); err != nil {
			t.Error(err)
		}
		// If the operator was wrong, the source keeps the job.
		if got := tell(s, about(Confirm, "t", 3)); got != 0 {
			t.Errorf("answers %v", got)
		}
		wants(t, s, "a", Absent)
	})
	t.Run("taken back", func(t *testing.T) {
		s, _ := in(t, Gone)
		j, err := s.Settle(5, "a", 1, SettleTakeBack, "t burnt down")
		if err != nil || j.State != Waiting || j.Epoch != 2 || j.Under != 2 || j.Attempt != 1 || j.MovedTo() != "" ||
			j.invalid() != "" {
			t.Errorf("%+v %v", j, err)
		}
		if m := j.Moves()[0]; m.State != MoveAborted || m.Why != settled+"t burnt down" {
			t.Errorf("%+v", m)
		}
		fx := take(s, 5)
		key := batch.Key{Job: "a", Epoch: 2, Attempt: 1}
		if len(fx.Plans) != 1 || fx.Plans[0].Kind != batch.CmdSubmit || fx.Plans[0].Key != key ||
			s.Wake() != batch.Never {
			t.Errorf("%+v", fx)
		}
		for epoch, want := range map[uint32]MessageKind{1: Aborted, 2: Aborted, 3: Pending} {
			if got := tell(s, about(Resolve, "t", epoch)); got != want {
				t.Errorf("epoch %d: %v", epoch, got)
			}
		}
		// If the target still exists, it can try to move the job.
		if got := tell(s, about(Reserve, "t", 3)); got != Refused {
			t.Errorf("answers %v", got)
		}
		if _, err := s.Move(6, MoveRequest{Job: "a", To: "u", Seen: 2}, idle("a", 9)); err != nil {
			t.Error(err)
		}
	})
}

func TestSettlementsAreRefused(t *testing.T) {
	for state := Waiting; state <= Incoming; state++ {
		s, _ := in(t, state)
		before := job(t, s, "a")
		for _, w := range []Settlement{SettleCommitted, SettleAborted, SettleTakeBack} {
			_, err := s.Settle(5, "a", before.Epoch+1, w, "")
			refused(t, err, problem.StaleEpoch, "epoch")
			if fits := state == Incoming && w != SettleTakeBack || state == Gone && w != SettleAborted; !fits {
				_, err = s.Settle(5, "a", before.Epoch, w, "")
				refused(t, err, problem.NotWaiting, "settlement")
			}
		}
		for _, w := range []Settlement{0, SettleTakeBack + 1} {
			_, err := s.Settle(5, "a", before.Epoch, w, "")
			refused(t, err, problem.BadValue, "settlement")
		}
		if fx := take(s, 5); !fx.Empty() || job(t, s, "a") != before {
			t.Errorf("%v: refused, with %+v", state, fx)
		}
	}
	s, _ := in(t, Gone)
	s.Receive(2, answer(Confirmed, 1), nil)
	_, err := s.Settle(5, "a", 1, SettleTakeBack, "")
	refused(t, err, problem.NotWaiting, "settlement")
}
