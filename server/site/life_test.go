package site

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// in returns a site with one job that reached a state by regular events.
func in(t testing.TB, state State) (*Site, batch.Key) {
	t.Helper()
	s := named(t, "s")
	key := queue(t, s, "a")
	yield := func() {
		_, _ = s.Move(1, MoveRequest{Job: "a", To: "t"}, idle("a", 99))
		s.Receive(1, &Message{Kind: Reserved, From: "t", Job: "a", Epoch: 1}, idle("a", batch.Time(batch.Hour)))
	}
	ends := map[State]batch.End{
		Done: batch.EndDone, Failed: batch.EndFailed, Killed: batch.EndKilled, Cancelled: batch.EndCancelled,
	}
	switch state {
	case Waiting:
	case Starting:
		_, _ = s.Starting(1, key)
	case Running:
		_, _ = s.Running(1, key, nil, nil)
	case Cancelling:
		_, _ = s.Starting(1, key)
		_, _ = s.Cancel(1, "a")
	case Held:
		_, _ = s.Hold(1, "r", batch.Minute, nil)
	case Moving:
		_, _ = s.Move(1, MoveRequest{Job: "a", To: "t"}, idle("a", 99))
	case Yielding:
		yield()
	case Gone:
		yield()
		s.Claimed(1, key, true)
	case Incoming:
		s = named(t, "s")
		s.Receive(1, reservation("t", "s", "a", 3), idle("a", 9))
		key.Epoch = 3
	default:
		_, _ = s.Ended(1, key, batch.Outcome{End: ends[state]}, nil)
	}
	wants(t, s, "a", state)
	take(s, 1)
	return s, key
}

// reservation returns a Reserve for a job of two processors and ten seconds.
func reservation(from, to string, id batch.JobID, epoch uint32) *Message {
	return &Message{Kind: Reserve, From: from, To: to, Job: id, Epoch: epoch, Parcel: &Parcel{
		Dossier: &Dossier{Request: Request{Menu: menu(2, 10)}}, Present: batch.Forever,
		Moves: []Move{{From: from, To: to, Epoch: epoch, State: MovePending}},
	}}
}

func TestEveryStateTakesEveryEventOrRefusesIt(t *testing.T) {
	events := []Event{
		OnStarting, OnRunning, OnDone, OnFailed, OnKilled, OnCancelled, OnNeverRan, OnLost, OnCancel, OnStopped,
	}
	const _x = State(0)
	table := map[State][]State{
		//          starting    running     done  failed  killed  cancelled  never-ran   lost    cancel      stopped
		Waiting:    {Starting, Running, Done, Failed, Killed, Cancelled, Waiting, Failed, Cancelling, Waiting},
		Starting:   {Starting, Running, Done, Failed, Killed, Cancelled, Waiting, Failed, Cancelling, Waiting},
		Running:    {_x, Running, Done, Failed, Killed, Cancelled, Waiting, Failed, Cancelling, Waiting},
		Held:       {Starting, Running, Done, Failed, Killed, Cancelled, Waiting, Failed, Cancelling, Waiting},
		Moving:     {Starting, Running, Done, Failed, Killed, Cancelled, Waiting, Failed, Cancelling, Waiting},
		Yielding:   {_x, Running, Done, Failed, Killed, Yielding, Yielding, Failed, Yielding, _x},
		Cancelling: {Cancelling, Cancelling, Done, Failed, Killed, Cancelled, Cancelled, Failed, Cancelling, Cancelled},
		Done:       {_x, _x, Done, _x, _x, _x, _x, _x, Done, _x},
		Failed:     {_x, _x, _x, Failed, _x, _x, _x, Failed, Failed, _x},
		Killed:     {_x, _x, _x, _x, Killed, _x, _x, _x, Killed, _x},
		Cancelled:  {_x, _x, _x, _x, _x, Cancelled, _x, _x, Cancelled, _x},
		Gone:       {_x, _x, _x, _x, _x, _x, _x, _x, Gone, _x},
		Incoming:   {_x, _x, _x, _x, _x, _x, _x, _x, Incoming, _x},
	}
	outcomes := map[Event]batch.End{
		OnDone: batch.EndDone, OnFailed: batch.EndFailed, OnKilled: batch.EndKilled, OnCancelled: batch.EndCancelled,
		OnNeverRan: batch.EndNeverRan, OnLost: batch.EndLost, OnStopped: batch.EndStopped,
	}
	for from := Waiting; from <= Incoming; from++ {
		row, ok := table[from]
		if !ok {
			t.Fatalf("no row for %v", from)
		}
		for i, e := range events {
			t.Run(fmt.Sprintf("%v/%v", from, e), func(t *testing.T) {
				s, key := in(t, from)
				before := job(t, s, "a")
				var err error
				switch e {
				case OnStarting:
					_, err = s.Starting(7, key)
				case OnRunning:
					_, err = s.Running(7, key, []string{"n1"}, nil)
				case OnCancel:
					_, err = s.Cancel(7, "a")
				default:
					_, err = s.Ended(7, key, batch.Outcome{End: outcomes[e]}, nil)
				}
				j := job(t, s, "a")
				if invalid := j.invalid(); invalid != "" {
					t.Error(invalid)
				}
				if row[i] == _x {
					var bad *TransitionError
					if !errors.As(err, &bad) || bad.State != from || bad.Event != e || bad.Job != "a" {
						t.Errorf("got %v", err)
					}
					if j != before {
						t.Errorf("a refused event changed the job to %+v", j)
					}
					return
				}
				if err != nil || j.State != row[i] {
					t.Errorf("got %v, %v, want %v", j.State, err, row[i])
				}
			})
		}
	}
}

func TestLoadOverTheLifeOfAJob(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	j := submit(t, s, 10, "a", &Request{Menu: menu(3, 10)})
	key := j.Key()
	figures := func(running, waiting int, ended int64, busy int32, backlog float64) {
		t.Helper()
		l := s.Load()
		if l.Running != running || l.Waiting != waiting || l.Ended != ended || l.Busy != busy ||
			l.Backlog.Seconds() != backlog || l.Processors != 4 {
			t.Errorf("load %+v, backlog %v", l, l.Backlog.Seconds())
		}
	}
	figures(0, 1, 0, 0, 30)
	if j, err := s.Starting(11, key); err != nil || j.State != Starting || j.Revision != 2 {
		t.Errorf("starting: %+v %v", j, err)
	}
	figures(1, 0, 0, 3, 0)
	nodes, places := []string{"n1", "n2"}, []batch.NodeAllocation{{Processors: 2}, {Processors: 1}}
	for range 2 { // a repeated report changes nothing
		if j, err := s.Running(12, key, nodes, places); err != nil || j.State != Running || j.Started != 12 ||
			j.Revision != 3 || len(j.Run.Nodes) != 2 || j.Run.Places[0].Processors != 2 {
			t.Errorf("running: %+v %v", j, err)
		}
	}
	figures(1, 0, 0, 3, 0)
	outputs := []Output{{Argument: "o", Size: 3}}
	outcome := batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}
	for range 2 {
		if j, err := s.Ended(20, key, outcome, outputs); err != nil || j.State != Failed || j.Ended != 20 ||
			j.Outcome() != outcome || len(j.Run.Outputs) != 1 || j.Revision != 4 {
			t.Errorf("ended: %+v %v", j, err)
		}
	}
	figures(0, 0, 1, 0, 0)
}

func TestEventsMaySkipStates(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	j := submit(t, s, 0, "a", &Request{Menu: menu(3, 10)})
	if j, err := s.Ended(9, j.Key(), batch.Outcome{End: batch.EndStartFailed}, nil); err != nil || j.State != Failed ||
		j.Started != batch.Never {
		t.Errorf("%+v %v", j, err)
	}
	if l := s.Load(); l != (Load{Ended: 1, Processors: 4}) {
		t.Errorf("load %+v", l)
	}
}

func TestUnknownJobsAndAttempts(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	j := submit(t, s, 0, "a", &Request{Menu: menu(3, 10)})
	stale, other := j.Key(), j.Key()
	stale.Attempt, other.Job = 2, "b"
	_, cancel := s.Cancel(1, "b")
	_, job := s.Job("b")
	_, starting := s.Starting(1, stale)
	_, running := s.Running(1, stale, nil, nil)
	_, ended := s.Ended(1, other, batch.Outcome{}, nil)
	_, move := s.Move(1, MoveRequest{Job: "b", To: "t"}, idle("b", 9))
	_, settle := s.Settle(1, "b", 1, SettleAborted, "")
	for _, err := range []error{cancel, job, starting, running, ended, move, settle, s.Forget("b")} {
		refused(t, err, problem.UnknownJob, "job_id")
	}
	s.Claimed(1, stale, true)
	s.Claimed(1, other, true)
	if got, err := s.Job("a"); err != nil || got.Revision != 1 {
		t.Errorf("the job: %+v %v", got, err)
	}
}
