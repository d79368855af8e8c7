package site

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// saved returns the records of a site, encoded and decoded so that they hold only what a disk
// holds.
func saved(t testing.TB, s *Site) []Record {
	t.Helper()
	var out []Record
	for _, j := range s.book.order {
		if j == nil {
			continue
		}
		text, err := json.Marshal(record(j))
		if err != nil {
			t.Fatal(err)
		}
		var r Record
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// restart restores a site from the records of another one, and returns its first effects. By
// default the server has won the claim of an attempt.
func restart(t testing.TB, s *Site, now batch.Time, attempts map[batch.JobID]RecoveredAttempt) (*Site, Effects) {
	t.Helper()
	again, err := New(s.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(saved(t, s)); err != nil {
		t.Fatal(err)
	}
	var list []RecoveredAttempt
	for _, key := range again.Unsettled() {
		f, told := attempts[key.Job]
		if !told {
			f = RecoveredAttempt{Won: true}
		}
		list = append(list, f)
	}
	if err := again.Recover(now, list); err != nil {
		t.Fatal(err)
	}
	return again, take(again, now)
}

func at(us int64) time.Time { return time.UnixMicro(us) }

// runs is an attempt that has run since an instant.
func runs(since int64) RecoveredAttempt {
	return RecoveredAttempt{Found: batch.Found{
		Phase: batch.PhaseRunning, Started: at(since), Nodes: []string{"n"},
		Allocation: []batch.NodeAllocation{{Processors: 2}},
	}}
}

// ends is an attempt that has ended.
func ends(e batch.End) RecoveredAttempt {
	return RecoveredAttempt{
		Found:   batch.Found{Phase: batch.PhaseEnded, Started: at(1), Ended: at(8), Outcome: batch.Outcome{End: e}},
		Outputs: []Output{{Argument: "o"}},
	}
}

// TestARestartTakesUpEveryState restores a job in every state, with each possible outcome of its
// attempt.
func TestARestartTakesUpEveryState(t *testing.T) {
	launching := RecoveredAttempt{Found: batch.Found{Phase: batch.PhaseStarting, Started: at(1)}}
	unlaunched := RecoveredAttempt{Found: batch.Found{
		Phase: batch.PhaseEnded, Ended: at(8), Outcome: batch.Outcome{End: batch.EndStartFailed},
	}}
	attempts := map[string]RecoveredAttempt{
		"won": {Won: true}, "launching": launching, "runs": runs(1), "done": ends(batch.EndDone),
		"cancelled": ends(batch.EndCancelled),
		"lost":      ends(batch.EndLost), "unlaunched": unlaunched, "never ran": ends(batch.EndNeverRan),
	}
	for _, tt := range []struct {
		from           State
		recovered      string // "": not required
		want           State
		plans, told    string
		sent           []MessageKind
		attempt        uint32
		started, ended batch.Time
	}{
		{Waiting, "", Waiting, "submit", "", nil, 1, 0, 0},
		{Held, "", Held, "submit", "hold a ", nil, 1, 0, 0},
		{Moving, "", Waiting, "submit", "", []MessageKind{Drop}, 1, 0, 0},
		{Incoming, "", Incoming, "reserve", "", []MessageKind{Resolve}, 1, 0, 0},
		{Gone, "", Gone, "", "", []MessageKind{Confirm}, 1, 0, 0},
		{Done, "", Done, "", "", nil, 1, 0, 1},
		{Failed, "", Failed, "", "", nil, 1, 0, 1},
		{Killed, "", Killed, "", "", nil, 1, 0, 1},
		{Cancelled, "", Cancelled, "", "", nil, 1, 0, 1},

		{Starting, "won", Waiting, "submit", "", nil, 2, 0, 0},
		{Starting, "launching", Starting, "", "", nil, 1, 0, 0},
		{Starting, "runs", Running, "", "", nil, 1, 1, 0},
		{Starting, "done", Done, "", "", nil, 1, 1, 8},
		{Starting, "never ran", Waiting, "submit", "", nil, 2, 0, 0},
		{Starting, "lost", Failed, "", "", nil, 1, 1, 8},
		{Starting, "unlaunched", Failed, "", "", nil, 1, 0, 8},
		{Running, "won", Failed, "", "", nil, 1, 1, 9},
		{Running, "runs", Running, "", "", nil, 1, 1, 0},
		{Running, "done", Done, "", "", nil, 1, 1, 8},
		{Running, "cancelled", Cancelled, "", "", nil, 1, 1, 8},
		{Running, "lost", Failed, "", "", nil, 1, 1, 8},
		{Yielding, "won", Gone, "", "cancel a ", []MessageKind{Confirm}, 1, 0, 0},
		{Yielding, "launching", Starting, "", "", []MessageKind{Drop}, 1, 0, 0},
		{Yielding, "runs", Running, "", "", []MessageKind{Drop}, 1, 1, 0},
		{Yielding, "done", Done, "", "", []MessageKind{Drop}, 1, 1, 8},
		{Cancelling, "won", Cancelled, "", "cancel a ", nil, 1, 0, 9},
		{Cancelling, "never ran", Cancelled, "", "cancel a ", nil, 1, 0, 9},
		{Cancelling, "launching", Cancelling, "", "cancel a ", nil, 1, 0, 0},
		{Cancelling, "runs", Cancelling, "", "cancel a ", nil, 1, 1, 0},
		{Cancelling, "done", Done, "", "", nil, 1, 1, 8},
		{Cancelling, "cancelled", Cancelled, "", "", nil, 1, 1, 8},
		{Cancelling, "lost", Failed, "", "", nil, 1, 1, 8},
	} {
		t.Run(tt.from.String()+" "+tt.recovered, func(t *testing.T) {
			s, _ := in(t, tt.from)
			asked := map[batch.JobID]RecoveredAttempt{}
			if tt.recovered != "" {
				asked["a"] = attempts[tt.recovered]
			}
			again, fx := restart(t, s, 9, asked)
			j := wants(t, again, "a", tt.want)
			if invalid := j.invalid(); invalid != "" {
				t.Error(invalid)
			}
			if n := len(s.Unsettled()); (n == 1) != (tt.recovered != "") {
				t.Errorf("%d attempts are required", n)
			}
			if j.Attempt != tt.attempt || instantOut(j.Started) != tt.started || instantOut(j.Ended) != tt.ended {
				t.Errorf("%+v", j)
			}
			plans := ""
			for _, p := range fx.Plans {
				plans += map[batch.CommandKind]string{batch.CmdSubmit: "submit", batch.CmdReserve: "reserve"}[p.Kind]
			}
			same(t, "plans", plans, tt.plans)
			same(t, "commands", commandsOf(fx.Commands), tt.told)
			same(t, "messages", kinds(fx.Messages), tt.sent)
			if len(fx.Claims) != 0 {
				t.Errorf("claims %v", fx.Claims)
			}
			if tt.recovered == "done" && len(j.Run.Outputs) != 1 ||
				tt.recovered == "runs" && tt.from != Running && len(j.Run.Places) != 1 {
				t.Errorf("%+v", j.Run)
			}
		})
	}
}

// TestARestartFinishesACancel: at the restart the cancel waits for its claim.
func TestARestartFinishesACancel(t *testing.T) {
	for name, tt := range map[string]struct {
		recovered RecoveredAttempt
		want      State
	}{
		"won":  {RecoveredAttempt{Won: true}, Cancelled},
		"runs": {runs(1), Cancelling},
		"done": {ends(batch.EndDone), Done},
	} {
		s, _ := in(t, Waiting)
		_, _ = s.Cancel(2, "a")
		again, fx := restart(t, s, 9, map[batch.JobID]RecoveredAttempt{"a": tt.recovered})
		if j := wants(t, again, "a", tt.want); j.busy != (tt.want == Cancelling) {
			t.Errorf("%s: %+v", name, j)
		}
		same(t, name, commandsOf(fx.Commands), map[string]string{
			"won": "cancel a ", "runs": "cancel a ", "done": "",
		}[name])
	}
	// The same holds for a cancel that was recorded during a handover.
	s, _ := in(t, Yielding)
	_, _ = s.Cancel(2, "a")
	again, fx := restart(t, s, 9, nil)
	wants(t, again, "a", Cancelled)
	same(t, "messages", kinds(fx.Messages), []MessageKind{Drop})
}

func TestRunSurvivesARestart(t *testing.T) {
	s, key := in(t, Starting)
	_, _ = s.Running(3, key, []string{"n1"}, []batch.NodeAllocation{{Processors: 2}})
	f := runs(7)
	f.Found.Nodes, f.Found.Allocation = nil, nil
	again, _ := restart(t, s, 9, map[batch.JobID]RecoveredAttempt{"a": f})
	if j := wants(t, again, "a", Running); j.Started != 3 || len(j.Run.Nodes) != 1 || len(j.Run.Places) != 1 ||
		again.Load().Busy != 2 {
		t.Errorf("%+v %+v", j, j.Run)
	}
}

// TestQueueKeepsItsOrderAcrossARestart: the order of the records makes no difference.
func TestQueueKeepsItsOrderAcrossARestart(t *testing.T) {
	s := named(t, "s")
	for i := range 20 {
		queue(t, s, batch.JobID(fmt.Sprintf("j%02d", i)))
	}
	hold(t, s, 0, "r", []batch.JobID{"j03", "j07"})
	_, _ = s.Place(1, "r", "", []Placement{{Job: "j07"}, {Job: "j03"}})
	_, _ = s.Starting(1, batch.Key{Job: "j10", Attempt: 1})
	_, _ = s.Move(1, MoveRequest{Job: "j05", To: "t"}, idle("j05", 9))
	records := saved(t, s)
	for i := range records { // backwards
		if k := len(records) - 1 - i; i < k {
			records[i], records[k] = records[k], records[i]
		}
	}
	again := named(t, "s")
	if err := again.Restore(records); err != nil {
		t.Fatal(err)
	}
	if err := again.Recover(5, nil); err == nil {
		t.Error("a missing attempt is accepted")
	}
	if err := again.Recover(5, []RecoveredAttempt{{Won: true}}); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range take(again, 5).Plans {
		got += string(p.Key.Job[1:]) + " "
		if want := uint32(1); p.Key.Job == "j10" && p.Key.Attempt != 2 || p.Key.Job != "j10" && p.Key.Attempt != want {
			t.Errorf("%+v", p.Key)
		}
	}
	same(t, "order", got, "00 01 02 04 05 06 08 09 10 11 12 13 14 15 16 17 18 19 07 03 ")
	// A job that is submitted later comes after all of them.
	if j := submit(t, again, 6, "new", &Request{Menu: menu(1, 1)}); j.Order <= job(t, again, "j03").Order {
		t.Errorf("order %d", j.Order)
	}
	if a, b := s.Load(), again.Load(); a.Waiting+1 != b.Waiting-1 || b.Running != 0 {
		t.Errorf("%+v, then %+v", a, b)
	}
}

func TestAnIdleJobStaysIdle(t *testing.T) {
	s, _ := in(t, Incoming)
	late := batch.Time(DefaultPatience.Idle) + 1
	again, fx := restart(t, s, late, nil) // idle since the restart
	same(t, "commands", commandsOf(fx.Commands), "hold a ")
	again, fx = restart(t, again, late, nil)
	same(t, "commands", commandsOf(fx.Commands), "hold a ")
	again.Tick(again.Wake())
	same(t, "commands", commandsOf(take(again, late).Commands), "")
}
