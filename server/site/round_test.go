package site

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// line returns a site with the jobs a to e of two processors. d is a local user's job, e runs.
func line(t *testing.T) *Site {
	t.Helper()
	s := named(t, "s")
	for _, id := range []batch.JobID{"a", "b", "c", "d", "e"} {
		r := &Request{Menu: menu(2, 10)}
		if id == "d" {
			r.Origin = batch.Local
		}
		j := submit(t, s, 0, id, r)
		if id == "e" {
			_, _ = s.Running(0, j.Key(), nil, nil)
		}
	}
	take(s, 0)
	return s
}

// names joins the IDs of jobs.
func names(jobs []Job) string {
	var b strings.Builder
	for _, j := range jobs {
		b.WriteString(string(j.ID))
	}
	return b.String()
}

// commandsOf joins commands as "kind job", in order.
func commandsOf(cmds []batch.Command) string {
	var b strings.Builder
	for _, c := range cmds {
		b.WriteString(map[batch.CommandKind]string{
			batch.CmdHold: "hold", batch.CmdRelease: "release", batch.CmdPlace: "place", batch.CmdCancel: "cancel",
			batch.CmdConfirm: "confirm",
		}[c.Kind] + " " + string(c.Key.Job) + " ")
	}
	return b.String()
}

func hold(t *testing.T, s *Site, now batch.Time, round string, ids []batch.JobID) string {
	t.Helper()
	jobs, err := s.Hold(now, round, batch.Minute, ids)
	if err != nil {
		t.Fatal(err)
	}
	return names(jobs)
}

func TestHoldTakesWaitingMovableJobs(t *testing.T) {
	for _, tt := range []struct {
		ids  []batch.JobID
		want string
	}{
		{nil, "abc"},
		{[]batch.JobID{}, ""},
		{[]batch.JobID{"e", "d", "c", "unknown", "a", "c"}, "ac"}, // in order
	} {
		s := line(t)
		same(t, "held", hold(t, s, 0, "r", tt.ids), tt.want)
		for _, id := range []batch.JobID{"a", "b", "c"} {
			if j := job(t, s, id); (j.State == Held) != strings.Contains(tt.want, string(id)) {
				t.Errorf("%s is %v", id, j.State)
			}
		}
		if fx := take(s, 0); len(fx.Commands) != len(tt.want) || len(fx.Writes) != len(tt.want) {
			t.Errorf("%+v", fx)
		}
		if s.Load().Waiting != 4 {
			t.Errorf("%+v", s.Load())
		}
	}
}

func TestTheSameHoldAgainGivesNoNewLease(t *testing.T) {
	s := line(t)
	hold(t, s, 0, "r", nil)
	take(s, 0)
	same(t, "again", hold(t, s, batch.Time(batch.Second), "r", nil), "abc")
	same(t, "of another round", hold(t, s, batch.Time(batch.Second), "q", nil), "")
	if fx := take(s, 0); !fx.Empty() {
		t.Errorf("%+v", fx)
	}
	same(t, "lease", s.Wake(), batch.Time(batch.Minute))
	s.Tick(batch.Time(batch.Minute))
	fx := take(s, 0)
	same(t, "commands", commandsOf(fx.Commands), "release a release b release c ")
	for _, id := range []batch.JobID{"a", "b", "c"} {
		if j := wants(t, s, id, Waiting); j.Transit.Round != "" {
			t.Errorf("%s is in a round", id)
		}
	}
	same(t, "then", s.Wake(), batch.Never)
	same(t, "the next round", hold(t, s, batch.Time(batch.Minute), "q", nil), "abc")
}

func TestRoundsAreChecked(t *testing.T) {
	s := line(t)
	_, err := s.Hold(0, "", batch.Minute, nil)
	refused(t, err, problem.BadValue, "round")
	for _, lease := range []batch.Duration{0, -1, ShortestLease - 1, LongestLease + 1} {
		_, err = s.Hold(0, "r", lease, nil)
		refused(t, err, problem.OutOfRange, "lease")
	}
	hold(t, s, 0, "r", nil)
	take(s, 0)
	for field, p := range map[string]Placement{
		"placements[1].to":             {Job: "b", To: "s"},
		"placements[1].shape.width":    {Job: "b", Shape: batch.Shape{Width: 5, Walltime: batch.Second}},
		"placements[1].shape.walltime": {Job: "b", Shape: batch.Shape{Width: 1, Walltime: batch.Second - 1}},
	} {
		reason := map[string]problem.Reason{
			"to": problem.BadValue, "width": problem.TooWide, "walltime": problem.OutOfRange,
		}[field[strings.LastIndex(field, ".")+1:]]
		_, err := s.Place(0, "r", "", []Placement{{Job: "a"}, p})
		refused(t, err, reason, field)
	}
	_, err = s.Place(0, "r", "", []Placement{{Job: "a", Shape: batch.Shape{Width: 1, Walltime: batch.Forever}}})
	refused(t, err, problem.OutOfRange, "placements[0].shape.walltime")
	if fx := take(s, 0); !fx.Empty() {
		t.Errorf("refused, with %+v", fx)
	}
	wants(t, s, "a", Held)
}

func TestPlacementThatExceedsTheMemoryIsRefused(t *testing.T) {
	s, err := New(Config{Name: "s", Platform: batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 8}}}})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, 0, "a", &Request{Menu: menu(1, 1), Memory: 4})
	hold(t, s, 0, "r", nil)
	_, err = s.Place(0, "r", "", []Placement{{Job: "a", Shape: batch.Shape{Width: 3, Walltime: batch.Second}}})
	refused(t, err, problem.NoMemory, "placements[0].shape.width")
	if _, err = s.Place(0, "r", "",
		[]Placement{{Job: "a", Shape: batch.Shape{Width: 2, Walltime: batch.Second}}}); err != nil {
		t.Error(err)
	}
}

func TestPlaceEndsARound(t *testing.T) {
	s := line(t)
	submit(t, s, 0, "f", &Request{Menu: menu(2, 10)})
	submit(t, s, 0, "g", &Request{Menu: menu(2, 10)})
	hold(t, s, 0, "r", nil) // a b c f g
	_, _ = s.Starting(1, batch.Key{Job: "g", Attempt: 1})
	take(s, 1)
	wide := batch.Shape{Width: 4, Walltime: seconds(7)}
	out, err := s.Place(2, "r", "agent", []Placement{
		{Job: "c", Shape: wide},
		{Job: "f", To: "t", MinGain: 5},
		{Job: "a"},
		{Job: "g"},
		{Job: "e"},
		{Job: "unknown"}, // no longer held, or never held
	})
	if err != nil || names(out) != "cfage" {
		t.Fatalf("%s %v", names(out), err)
	}
	fx := take(s, 2)
	same(t, "commands", commandsOf(fx.Commands), "place c place a release b ")
	same(t, "shape", fx.Commands[0].Shape, wide)
	same(t, "shape", fx.Commands[1].Shape, menu(2, 10)[0])
	same(t, "messages", kinds(fx.Messages), []MessageKind{Reserve})
	if j := wants(t, s, "c", Waiting); j.Shape != wide {
		t.Errorf("%+v", j)
	}
	wants(t, s, "b", Waiting)
	if j := wants(t, s, "f", Moving); j.Epoch != 1 || j.Moves()[0].Agent != "agent" {
		t.Errorf("%+v", j)
	}
	wants(t, s, "g", Starting)
	wants(t, s, "e", Running)
	// The jobs that stay come last, in the order of the call.
	a, b, c, d := job(t, s, "a"), job(t, s, "b"), job(t, s, "c"), job(t, s, "d")
	if b.Order >= d.Order || d.Order >= c.Order || c.Order >= a.Order {
		t.Errorf("order: b %d d %d c %d a %d", b.Order, d.Order, c.Order, a.Order)
	}
	// A repeated call changes nothing.
	if _, err := s.Place(3, "r", "agent", []Placement{{Job: "c", To: "t"}, {Job: "f"}, {Job: "a"}}); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, 3); !fx.Empty() {
		t.Errorf("again: %+v", fx)
	}
}

func TestPlacingAnotherRoundDoesNotAffectThisOne(t *testing.T) {
	s := line(t)
	hold(t, s, 0, "r", nil)
	take(s, 0)
	if _, err := s.Place(1, "q", "", []Placement{{Job: "a"}, {Job: "b", To: "t"}}); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, 1); !fx.Empty() {
		t.Errorf("%+v", fx)
	}
	wants(t, s, "c", Held)
}

// TestAbortedMoveOutOfARoundReleasesTheJob: the gain is not checked, because the job has no slot
// here.
func TestAbortedMoveOutOfARoundReleasesTheJob(t *testing.T) {
	depart := func() *Site {
		s := line(t)
		hold(t, s, 0, "r", []batch.JobID{"a"})
		_, _ = s.Place(0, "r", "", []Placement{{Job: "a", To: "t", MinGain: batch.Hour}})
		wants(t, s, "a", Moving)
		take(s, 0)
		return s
	}
	s := depart()
	s.Receive(1, answer(Refused, 1), nil)
	same(t, "refused", commandsOf(take(s, 1).Commands), "release a ")
	wants(t, s, "a", Waiting)

	s = depart()
	s.Receive(1, answer(Reserved, 1), idle("a", 2))
	wants(t, s, "a", Yielding)
	s.Claimed(1, batch.Key{Job: "a", Attempt: 1}, true)
	same(t, "gone", commandsOf(take(s, 1).Commands), "cancel a ")

	s = depart()
	_, _ = s.Starting(1, batch.Key{Job: "a", Attempt: 1})
	if fx := take(s, 1); commandsOf(fx.Commands) != "" || kinds(fx.Messages)[0] != Drop {
		t.Errorf("started: %+v", fx)
	}

	s = depart()
	_, _ = s.Cancel(1, "a")
	same(t, "cancelled", commandsOf(take(s, 1).Commands), "") // released, it could start
	s.Claimed(2, batch.Key{Job: "a", Attempt: 1}, true)
	same(t, "cancelled", commandsOf(take(s, 2).Commands), "cancel a ")

	s = depart()
	s.Tick(batch.Time(DefaultPatience.Move))
	same(t, "no answer", commandsOf(take(s, 1).Commands), "release a ")
}

// TestMoveOutOfARoundReleasesTheJobAfterAnotherLease: if the other site does not answer for a
// lease, the job is planned here again and can start. Its gain then counts.
func TestMoveOutOfARoundReleasesTheJobAfterAnotherLease(t *testing.T) {
	silent := func() *Site {
		s := line(t)
		hold(t, s, 0, "r", []batch.JobID{"a"})
		_, _ = s.Place(5, "r", "", []Placement{{Job: "a", To: "t", MinGain: seconds(10)}})
		for take(s, 5); s.Wake() < batch.Time(5).Add(batch.Minute); take(s, 5) {
			s.Tick(s.Wake())
			same(t, "before the lease is over", commandsOf(take(s, 5).Commands), "")
		}
		same(t, "the lease", s.Wake(), batch.Time(5).Add(batch.Minute))
		s.Tick(s.Wake())
		fx := take(s, 5)
		same(t, "commands", commandsOf(fx.Commands), "release a ")
		same(t, "messages", kinds(fx.Messages), []MessageKind{Reserve})
		if j := wants(t, s, "a", Moving); j.Transit.Round != "" {
			t.Errorf("in round %q", j.Transit.Round)
		}
		return s
	}
	now := batch.Time(2 * batch.Minute)
	s := silent()
	s.Tick(now)
	same(t, "once", commandsOf(take(s, now).Commands), "")
	s.Receive(now, answer(Reserved, 1), idle("a", now.Add(seconds(60+9)))) // at the target it would end in a minute
	wants(t, s, "a", Waiting)
	s = silent()
	s.Receive(now, answer(Reserved, 1), idle("a", now.Add(seconds(60+10))))
	wants(t, s, "a", Yielding)
	s = silent()
	_, _ = s.Starting(now, batch.Key{Job: "a", Attempt: 1})
	wants(t, s, "a", Starting)
}

func TestRestartRenewsLeases(t *testing.T) {
	s := line(t)
	hold(t, s, 0, "r", []batch.JobID{"b"})
	now := batch.Time(batch.Minute) - 1
	again, fx := restart(t, s, now, map[batch.JobID]RecoveredAttempt{"e": runs(0)})
	same(t, "commands", commandsOf(fx.Commands), "hold b ")
	same(t, "lease", again.Wake(), now.Add(batch.Minute))
	same(t, "held", hold(t, again, now, "r", []batch.JobID{"b"}), "b")
	again.Tick(again.Wake())
	same(t, "commands", commandsOf(take(again, now).Commands), "release b ")
}

func TestPlacementRecordsItsReason(t *testing.T) {
	s := line(t)
	hold(t, s, 0, "r", nil)
	_, err := s.Place(0, "r", "g", []Placement{{Job: "a", To: "t", Reason: "40s here, 2s there"}, {Job: "b", To: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[batch.JobID]string{"a": "40s here, 2s there", "b": "reallocation"} {
		j := job(t, s, id)
		same(t, "reason", j.Moves()[0].Reason, want)
	}
}

func TestAHoldEndsAPromise(t *testing.T) {
	s := line(t)
	if j, err := s.Job("a"); err != nil || j.Estimate.Kind != batch.Promised {
		t.Fatalf("%+v, %v", j.Estimate, err)
	}
	hold(t, s, 0, "r", []batch.JobID{"a"})
	if _, err := s.Place(0, "r", "agent", nil); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[batch.JobID]batch.Kind{"a": batch.Forecast, "b": batch.Promised} {
		if j, err := s.Job(id); err != nil || j.State != Waiting || j.Estimate.Kind != want {
			t.Errorf("%s: %v, %+v, %v", id, j.State, j.Estimate, err)
		}
	}
}
