package site

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func submit(t testing.TB, s *Site, now batch.Time, id batch.JobID, r *Request) (Job, []batch.Command) {
	t.Helper()
	j, cmds, err := s.Submit(now, Submission{ID: id, Request: r}, &rectangles{processors: s.processors})
	if err != nil {
		t.Fatal(err)
	}
	return j, cmds
}

func TestSubmitTunesAndTellsTheBatchSystem(t *testing.T) {
	s := newSite(t, sevenMinutes, 5, Exhaustive)
	r := &Request{Service: "seven", Owner: "ada", Memory: 7, CPU: batch.One / 2, InputSite: "b", Input: 9}
	j, cmds, err := s.Submit(0, Submission{ID: "a", Request: r, Decision: []byte("why")}, figure2())
	if err != nil {
		t.Fatal(err)
	}
	want := batch.Job{
		Shape: batch.Shape{Width: 4, Walltime: seconds(105)}, Owner: "ada", Name: "seven", Memory: 7, CPU: batch.One / 2, Site: "b", Input: 9,
	}
	if diff := cmp.Diff(want, *j.Spec); diff != "" {
		t.Error(diff)
	}
	if len(cmds) != 1 || cmds[0].Kind != batch.CmdSubmit || cmds[0].Key != (batch.Key{Job: "a", Attempt: 1}) || cmds[0].Job != j.Spec {
		t.Errorf("commands: %+v", cmds)
	}
	if j.State != Waiting || j.Estimate.Completion != seconds(105) || string(j.Decision) != "why" || j.Started != batch.Never || j.Ended != batch.Never || j.Revision != 1 {
		t.Errorf("job: %+v", j)
	}
	if args := j.Values.Service().Args(j.Values, catalogue.Launch{Shape: j.Spec.Shape}); len(args) != 1 || args[0] != "seven" {
		t.Errorf("arguments %q", args)
	}
}

func TestTheSameSubmissionAgainGetsTheSameAnswer(t *testing.T) {
	s := newSite(t, services, 8, Exhaustive)
	request := func() *Request {
		return &Request{
			Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(3)}, Labels: map[string]string{"a": "b"},
			Licences: []batch.Licence{{Name: "x", Copies: 1}}, Deadline: 1 << 50,
		}
	}
	first, _ := submit(t, s, 0, "a", request())
	again, cmds, err := s.Submit(99, Submission{ID: "a", Request: request()}, &rectangles{silent: true})
	if err != nil || cmds != nil {
		t.Fatalf("again: %v, %v", cmds, err)
	}
	if again.Revision != first.Revision || again.Spec != first.Spec || again.Estimate != first.Estimate || again.Submitted != 0 {
		t.Errorf("again: %+v", again)
	}
	if _, err := s.Running(5, first.Key(), nil); err != nil {
		t.Fatal(err)
	}
	if again, _, err = s.Submit(99, Submission{ID: "a", Request: request()}, nil); err != nil || again.State != Running {
		t.Errorf("the job as it is now: %v %v", again.State, err)
	}
	for name, change := range map[string]func(*Request){
		"service":    func(r *Request) { r.Service = "rigid" },
		"argument":   func(r *Request) { r.Arguments["n"] = catalogue.Int(4) },
		"width":      func(r *Request) { r.Width = 1 },
		"walltime":   func(r *Request) { r.Walltime = batch.Hour },
		"menu":       func(r *Request) { r.Menu = menu(1, 1) },
		"owner":      func(r *Request) { r.Owner = "eve" },
		"origin":     func(r *Request) { r.Origin = batch.Local },
		"deadline":   func(r *Request) { r.Deadline++ },
		"earliest":   func(r *Request) { r.EarliestStart = 1 },
		"memory":     func(r *Request) { r.Memory = 1 },
		"cpu":        func(r *Request) { r.CPU = 1 },
		"licences":   func(r *Request) { r.Licences[0].Copies = 2 },
		"input":      func(r *Request) { r.Input = 1 },
		"input site": func(r *Request) { r.InputSite = "x" },
		"idempotent": func(r *Request) { r.Idempotent = true },
		"labels":     func(r *Request) { r.Labels["a"] = "c" },
	} {
		r := request()
		change(r)
		_, _, err := s.Submit(99, Submission{ID: "a", Request: r}, nil)
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Reason != ReasonJobConflict || refused.Field != "job_id" {
			t.Errorf("another %s: got %v", name, err)
		}
	}
}

func TestARefusedSubmissionLeavesNothingBehind(t *testing.T) {
	s := newSite(t, services, 4, Exhaustive)
	if _, _, err := s.Submit(0, Submission{ID: "a", Request: &Request{Service: "rigid"}}, instant{}); err == nil {
		t.Fatal("accepted")
	}
	if _, err := s.Job("a"); err == nil {
		t.Error("it is known")
	}
	submit(t, s, 0, "a", &Request{Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(3)}})
}

// in returns a site with one job that has been put into a state.
func in(t *testing.T, state State) (*Site, batch.Key) {
	s := newSite(t, "", 4, Exhaustive)
	j, _ := submit(t, s, 0, "a", &Request{Menu: menu(2, 10)})
	s.book.byID["a"].State = state
	s.book.byID["a"].busy = state == Running || state == Starting
	return s, j.Key()
}

func TestEveryStateTakesEveryEventOrRefusesIt(t *testing.T) {
	events := []Event{OnStarting, OnRunning, OnDone, OnFailed, OnKilled, OnCancelled, OnCancel}
	const _x = State(0)
	table := map[State][]State{
		//          starting    running     done  failed  killed  cancelled  cancel
		Waiting:    {Starting, Running, Done, Failed, Killed, Cancelled, Cancelling},
		Starting:   {Starting, Running, Done, Failed, Killed, Cancelled, Cancelling},
		Running:    {_x, Running, Done, Failed, Killed, Cancelled, Cancelling},
		Cancelling: {Cancelling, Cancelling, Done, Failed, Killed, Cancelled, Cancelling},
		Done:       {_x, _x, Done, _x, _x, _x, Done},
		Failed:     {_x, _x, _x, Failed, _x, _x, Failed},
		Killed:     {_x, _x, _x, _x, Killed, _x, Killed},
		Cancelled:  {_x, _x, _x, _x, _x, Cancelled, Cancelled},
		Held:       {_x, _x, _x, _x, _x, _x, _x},
		Moving:     {_x, _x, _x, _x, _x, _x, _x},
		Yielding:   {_x, _x, _x, _x, _x, _x, _x},
		Gone:       {_x, _x, _x, _x, _x, _x, _x},
		Incoming:   {_x, _x, _x, _x, _x, _x, _x},
	}
	outcomes := map[Event]batch.End{OnDone: batch.EndDone, OnFailed: batch.EndFailed, OnKilled: batch.EndKilled, OnCancelled: batch.EndCancelled}
	for from := Waiting; from <= Incoming; from++ {
		row, ok := table[from]
		if !ok {
			t.Fatalf("no row for %v", from)
		}
		for i, e := range events {
			t.Run(fmt.Sprintf("%v/%v", from, e), func(t *testing.T) {
				s, key := in(t, from)
				var err error
				switch e {
				case OnStarting:
					_, err = s.Starting(7, key)
				case OnRunning:
					_, err = s.Running(7, key, []string{"n1"})
				case OnCancel:
					_, _, err = s.Cancel(key.Job)
				default:
					_, err = s.Ended(7, key, batch.Outcome{End: outcomes[e]})
				}
				j, _ := s.Job(key.Job)
				if row[i] == _x {
					var bad *TransitionError
					if !errors.As(err, &bad) || bad.State != from || bad.Event != e || bad.Job != key.Job {
						t.Errorf("got %v", err)
					}
					if j.State != from || j.Revision != 1 {
						t.Errorf("refused and changed to %v", j.State)
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

func TestAJobsLife(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	j, _ := submit(t, s, 10, "a", &Request{Menu: menu(3, 10)})
	key := j.Key()
	figures := func(running, waiting int, ended int64, busy int32, backlog float64) {
		t.Helper()
		l := s.Load()
		if l.Running != running || l.Waiting != waiting || l.Ended != ended || l.Busy != busy || l.Backlog.Seconds() != backlog || l.Processors != 4 {
			t.Errorf("load %+v, backlog %v", l, l.Backlog.Seconds())
		}
	}
	figures(0, 1, 0, 0, 30)
	if j, err := s.Starting(11, key); err != nil || j.State != Starting || j.Revision != 2 {
		t.Errorf("starting: %+v %v", j, err)
	}
	figures(1, 0, 0, 3, 0)
	nodes := []string{"n1", "n2"}
	for range 2 { // a repeated report changes nothing
		if j, err := s.Running(12, key, nodes); err != nil || j.State != Running || j.Started != 12 || j.Revision != 3 || len(j.Nodes) != 2 {
			t.Errorf("running: %+v %v", j, err)
		}
	}
	figures(1, 0, 0, 3, 0)
	outcome := batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}
	for range 2 {
		if j, err := s.Ended(20, key, outcome); err != nil || j.State != Failed || j.Ended != 20 || j.Outcome != outcome || j.Revision != 4 {
			t.Errorf("ended: %+v %v", j, err)
		}
	}
	figures(0, 0, 1, 0, 0)
}

func TestAStreamThatSkipsStatesIsFollowed(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	j, _ := submit(t, s, 0, "a", &Request{Menu: menu(3, 10)})
	if j, err := s.Ended(9, j.Key(), batch.Outcome{End: batch.EndStartFailed}); err != nil || j.State != Failed || j.Started != batch.Never {
		t.Errorf("%+v %v", j, err)
	}
	if l := s.Load(); l != (Load{Ended: 1, Processors: 4}) {
		t.Errorf("load %+v", l)
	}
}

func TestCancel(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  bool // it runs when the cancel comes
		late bool // it is heard to run only afterwards
		end  batch.End
		want State
	}{
		{"a waiting job", false, false, batch.EndCancelled, Cancelled},
		{"a running job", true, false, batch.EndCancelled, Cancelled},
		{"a job that had just started", false, true, batch.EndCancelled, Cancelled},
		{"a job that ended by itself first", true, false, batch.EndDone, Done},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, "", 4, Exhaustive)
			j, _ := submit(t, s, 0, "a", &Request{Menu: menu(3, 10)})
			if tt.run {
				_, _ = s.Running(1, j.Key(), nil)
			}
			changes := s.book.byID["a"].Revision
			want := []batch.Command{{Kind: batch.CmdCancel, Key: j.Key()}}
			for range 2 { // a client repeats until it hears the outcome
				got, cmds, err := s.Cancel("a")
				if now := s.book.byID["a"]; err != nil || got.State != Cancelling || got.Revision != changes+1 || now.Revision != changes+1 {
					t.Fatalf("%+v %v", got, err)
				}
				if diff := cmp.Diff(want, cmds); diff != "" {
					t.Error(diff)
				}
			}
			if tt.late {
				got, err := s.Running(2, j.Key(), []string{"n"})
				if err != nil || got.State != Cancelling || got.Started != 2 || s.Load().Busy != 3 {
					t.Errorf("%+v %v", got, err)
				}
			}
			if got, err := s.Ended(3, j.Key(), batch.Outcome{End: tt.end}); err != nil || got.State != tt.want {
				t.Errorf("%v %v", got.State, err)
			}
			if got, cmds, err := s.Cancel("a"); err != nil || cmds != nil || got.State != tt.want {
				t.Errorf("after the end: %v %v %v", got.State, cmds, err)
			}
			if l := s.Load(); l != (Load{Ended: 1, Processors: 4}) {
				t.Errorf("load %+v", l)
			}
		})
	}
}

func TestUnknownJobsAndAttempts(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	j, _ := submit(t, s, 0, "a", &Request{Menu: menu(3, 10)})
	stale, other := j.Key(), j.Key()
	stale.Attempt, other.Job = 2, "b"
	_, _, cancel := s.Cancel("b")
	_, job := s.Job("b")
	_, attempt := s.Running(1, stale, nil)
	_, ended := s.Ended(1, other, batch.Outcome{})
	for _, err := range []error{cancel, job, attempt, ended} {
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Reason != ReasonUnknownJob {
			t.Errorf("got %v", err)
		}
	}
}

// TestFiguresAreWhatTheJobsSay runs random lives and counts anew after each step.
func TestFiguresAreWhatTheJobsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		platform := batch.Platform{Nodes: []batch.Node{{Processors: 8, Memory: 16}}}
		s, err := New(Config{Platform: platform})
		if err != nil {
			t.Fatal(err)
		}
		jobs := 0
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if jobs == 0 || rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				r := &Request{Menu: menu(rapid.Int64Range(1, 4).Draw(t, "width"), rapid.Int64Range(1, 99).Draw(t, "walltime")), Memory: rapid.Int64Range(0, 4).Draw(t, "memory")}
				if _, _, err := s.Submit(0, Submission{ID: batch.JobID(fmt.Sprint(jobs)), Request: r}, instant{}); err != nil {
					t.Fatal(err)
				}
				jobs++
				continue
			}
			key := batch.Key{Job: batch.JobID(fmt.Sprint(rapid.IntRange(0, jobs-1).Draw(t, "job"))), Attempt: 1}
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				_, _ = s.Starting(1, key)
			case 1:
				_, _ = s.Running(1, key, nil)
			case 2:
				_, _ = s.Ended(1, key, batch.Outcome{End: batch.End(rapid.IntRange(1, 6).Draw(t, "end"))})
			default:
				_, _, _ = s.Cancel(key.Job)
			}
			want := Load{Processors: 8}
			started := make(map[batch.JobID]bool)
			all, _, _ := s.List(Filter{}, "", 0)
			for _, j := range all {
				started[j.ID] = j.busy
				charge := batch.Charge(j.Spec.Shape.Width, j.Request.Memory, 2)
				switch {
				case j.State.Final():
					want.Ended++
				case j.busy:
					want.Running++
					want.Busy += charge
				default:
					want.Waiting++
					want.Backlog = want.Backlog.Add(batch.AreaOf(charge, j.Spec.Shape.Walltime))
				}
				if j.busy != (j.State == Starting || j.State == Running) && j.State != Cancelling {
					t.Fatalf("%v job is busy: %v", j.State, j.busy)
				}
			}
			if got := s.Load(); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}
	})
}

func TestList(t *testing.T) {
	s := newSite(t, "", 8, Exhaustive)
	for i, id := range []batch.JobID{"e", "d", "c", "b", "a"} {
		r := &Request{Service: []string{"lu", "sleep"}[i%2], Owner: []string{"ada", "eve"}[i/3], Menu: menu(1, 5)}
		j, _ := submit(t, s, 0, id, r)
		if i < 2 {
			_, _ = s.Running(1, j.Key(), nil)
		}
		if i == 0 {
			_, _ = s.Ended(2, j.Key(), batch.Outcome{End: batch.EndDone})
		}
	}
	for _, tt := range []struct {
		filter string
		after  batch.JobID
		limit  int
		want   string
		more   batch.JobID
	}{
		{"", "", 0, "edcba", ""},
		{"", "", 2, "ed", "d"},
		{"", "d", 2, "cb", "b"},
		{"", "b", 2, "a", ""},
		{"", "a", 2, "", ""},
		{"", "", 5, "edcba", ""},
		{"state=waiting", "", 0, "cba", ""},
		{"state=waiting", "", 3, "cba", ""},
		{"state=waiting", "e", 1, "c", "c"},
		{"state=active", "", 0, "dcba", ""},
		{"state=done", "", 0, "e", ""},
		{"service=sleep", "", 0, "db", ""},
		{"service=sleep", "", 1, "d", "d"},
		{"owner=eve  state=active service=lu", "", 0, "a", ""},
		{"owner=nobody", "", 0, "", ""},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		jobs, more, err := s.List(f, tt.after, tt.limit)
		var got strings.Builder
		for _, j := range jobs {
			got.WriteString(string(j.ID))
		}
		if err != nil || got.String() != tt.want || more != tt.more {
			t.Errorf("%q after %q limit %d: got %q more %q %v", tt.filter, tt.after, tt.limit, got.String(), more, err)
		}
	}
	if _, _, err := s.List(Filter{}, "z", 1); err == nil {
		t.Error("an unknown token is accepted")
	}
	for _, bad := range []string{"state", "state=", "state=unspecified", "state=WAITING", "colour=red", "=x"} {
		var refused *Refusal
		if _, err := ParseFilter(bad); !errors.As(err, &refused) || refused.Accepted == "" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func BenchmarkSubmitAMenuAndRun(b *testing.B) {
	s := newSite(b, "", 1000, Exhaustive)
	r := &Request{Menu: moldable(1)}
	ids := make([]batch.JobID, 1_000_000)
	for i := range ids {
		ids[i] = batch.JobID(fmt.Sprint(i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if i%len(ids) == 0 {
			s = newSite(b, "", 1000, Exhaustive)
		}
		j, _, err := s.Submit(0, Submission{ID: ids[i%len(ids)], Request: r}, instant{})
		if err != nil {
			b.Fatal(err)
		}
		_, _ = s.Running(1, j.Key(), nil)
		_, _ = s.Ended(2, j.Key(), batch.Outcome{End: batch.EndDone})
	}
}
