package site

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// behind returns a request that depends on other jobs.
func behind(list ...Dependency) *Request { return &Request{Menu: menu(2, 10), After: list} }

// done ends a job's current attempt.
func done(t testing.TB, s *Site, now batch.Time, id batch.JobID, o batch.Outcome) {
	t.Helper()
	j := job(t, s, id)
	if _, err := s.Running(now, j.Key(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ended(now, j.Key(), o, nil); err != nil {
		t.Fatal(err)
	}
}

// planned joins plans as "kind job", in order.
func planned(cmds []batch.Command) string {
	var b strings.Builder
	for _, c := range cmds {
		b.WriteString(map[batch.CommandKind]string{
			batch.CmdSubmit: "submit", batch.CmdReserve: "reserve", batch.CmdHold: "hold",
		}[c.Kind] + " " + string(c.Key.Job[len(c.Key.Job)-1:]) + " ")
	}
	return b.String()
}

func TestJobIsHeldUntilItsDependenciesHaveEnded(t *testing.T) {
	a, b, c := numbered(1), numbered(2), numbered(3)
	for _, tt := range []struct {
		name  string
		after []Dependency
		ends  []batch.End // of a, then of b
		want  []State     // of c, after each of them
	}{
		{
			"both done",
			[]Dependency{{Job: a}, {Job: b}},
			[]batch.End{batch.EndDone, batch.EndDone},
			[]State{Held, Waiting},
		},
		{
			"the first one failed",
			[]Dependency{{Job: a}, {Job: b}},
			[]batch.End{batch.EndFailed, batch.EndDone},
			[]State{Cancelled, Cancelled},
		},
		{
			"the last one was killed",
			[]Dependency{{Job: a}, {Job: b}},
			[]batch.End{batch.EndDone, batch.EndKilled},
			[]State{Held, Cancelled},
		},
		{
			"however they end",
			[]Dependency{{Job: a, Any: true}, {Job: b, Any: true}},
			[]batch.End{batch.EndFailed, batch.EndKilled},
			[]State{Held, Waiting},
		},
		{
			"named twice",
			[]Dependency{{Job: a}, {Job: a}, {Job: a, Any: true}},
			[]batch.End{batch.EndDone, batch.EndDone},
			[]State{Waiting, Waiting},
		},
		{
			"twice, and once it has to be done",
			[]Dependency{{Job: a, Any: true}, {Job: a}},
			[]batch.End{batch.EndFailed, batch.EndDone},
			[]State{Cancelled, Cancelled},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := named(t, "s")
			queue(t, s, a)
			queue(t, s, b)
			take(s, 0)
			j := submit(t, s, 0, c, behind(tt.after...))
			if j.State != Held || j.Estimate.Kind != batch.Forecast {
				t.Fatalf("submitted: %v, %v", j.State, j.Estimate.Kind)
			}
			fx := take(s, 0)
			same(t, "plans", planned(fx.Plans), "reserve 3 hold 3 ")
			for i, id := range []batch.JobID{a, b} {
				done(t, s, sec(int64(i+1)), id, batch.Outcome{End: tt.ends[i]})
				if got := wants(t, s, c, tt.want[i]); got.State == Held && len(got.Awaits()) != 1 ||
					got.State != Held && got.Awaits() != nil {
					t.Errorf("it awaits %v", got.Awaits())
				}
			}
			fx = take(s, sec(2))
			got, want := commandsOf(fx.Commands), "confirm "+string(c)+" "
			if tt.want[1] == Cancelled {
				want = "cancel " + string(c) + " "
			}
			same(t, "commands", got, want)
			if len(s.book.awaited) != 0 {
				t.Errorf("the book keeps %d entries", len(s.book.awaited))
			}
		})
	}
}

func TestCancelledDependentNamesTheFailedJob(t *testing.T) {
	s := named(t, "s")
	queue(t, s, numbered(1))
	submit(t, s, 0, numbered(2), behind(Dependency{Job: numbered(1)}))
	submit(t, s, 0, numbered(3), behind(Dependency{Job: numbered(2)}))
	submit(t, s, 0, numbered(4), behind(Dependency{Job: numbered(3), Any: true}))
	done(t, s, sec(5), numbered(1), batch.Outcome{End: batch.EndFailed, ExitCode: 3})
	j := wants(t, s, numbered(2), Cancelled)
	same(t, "reason", j.Outcome().Reason, "it was to come after another one: job "+string(numbered(1))+" ended FAILED")
	same(t, "ended", j.Ended, sec(5))
	j = wants(t, s, numbered(3), Cancelled)
	same(t, "reason", j.Outcome().Reason,
		"it was to come after another one: job "+string(numbered(2))+" ended CANCELLED")
	wants(t, s, numbered(4), Waiting)
}

func TestALongChainOfDependentsIsCancelledWithoutRecursion(t *testing.T) {
	const n = 100_000
	s := named(t, "s")
	queue(t, s, numbered(1))
	for i := 2; i <= n; i++ {
		submit(t, s, 0, numbered(i), behind(Dependency{Job: numbered(i - 1)}))
	}
	take(s, 0)
	if _, err := s.Cancel(0, numbered(1)); err != nil {
		t.Fatal(err)
	}
	s.Claimed(sec(1), take(s, 0).Claims[0], true)
	for i := 1; i <= n; i++ {
		wants(t, s, numbered(i), Cancelled)
	}
}

func TestImpossibleDependenciesAreRefused(t *testing.T) {
	s := named(t, "s")
	for i := 1; i <= 3; i++ {
		queue(t, s, numbered(i))
	}
	done(t, s, 0, numbered(1), batch.Outcome{End: batch.EndDone})
	done(t, s, 0, numbered(2), batch.Outcome{End: batch.EndFailed})
	if _, _ = s.Withdraw(0, numbered(4)); s.Awaited(numbered(4)) {
		t.Error("the withdrawn job is awaited")
	}
	plan := &rectangles{processors: 4}
	for _, tt := range []struct {
		name   string
		after  []Dependency
		told   []JobStatus
		reason problem.Reason
	}{
		{"unknown job", []Dependency{{Job: numbered(9)}}, nil, problem.UnknownJob},
		{"itself", []Dependency{{Job: numbered(10)}}, nil, problem.UnknownJob},
		{"withdrawn job", []Dependency{{Job: numbered(4)}}, nil, problem.UnknownJob},
		{"unknown second job", []Dependency{{Job: numbered(3)}, {Job: numbered(9)}}, nil, problem.UnknownJob},
		{"failed job", []Dependency{{Job: numbered(2)}}, nil, problem.DependencyFailed},
		{
			"job cancelled at another site",
			[]Dependency{{Job: numbered(9)}},
			[]JobStatus{{numbered(9), Cancelled}},
			problem.DependencyFailed,
		},
	} {
		_, err := s.Submit(0, Submission{ID: numbered(10), Request: behind(tt.after...), Remote: tt.told}, plan)
		field := "request.after[0].job_id"
		if len(tt.after) == 2 {
			field = "request.after[1].job_id"
		}
		refused(t, err, tt.reason, field)
		if s.Knows(numbered(10)) {
			t.Errorf("%s: the refused job is kept", tt.name)
		}
	}
	for name, tt := range map[string]struct {
		after []Dependency
		told  []JobStatus
		want  State
	}{
		"what has ended well needs no wait":      {[]Dependency{{Job: numbered(1)}}, nil, Waiting},
		"nor what has failed, if that is enough": {[]Dependency{{Job: numbered(2), Any: true}}, nil, Waiting},
		"nor what is done elsewhere": {
			[]Dependency{{Job: numbered(9)}}, []JobStatus{{numbered(9), Done}}, Waiting,
		},
		"one here is known better here": {[]Dependency{{Job: numbered(3)}}, []JobStatus{{numbered(3), Failed}}, Held},
	} {
		id := batch.JobID("11111111-1111-7111-8111-" + strings.Repeat("0", 10) + string('a'+rune(len(name)%26)) + "1")
		j, err := s.Submit(0, Submission{ID: id, Request: behind(tt.after...), Remote: tt.told}, plan)
		if err != nil || j.State != tt.want {
			t.Errorf("%s: %v, %v", name, j.State, err)
		}
	}
}

func TestDependenciesOfARequestAreValidated(t *testing.T) {
	ok := Dependency{Job: numbered(1)}
	for field, r := range map[string]*Request{
		"request.after":           {Service: "s", After: slices.Repeat([]Dependency{ok}, maxDependencies+1)},
		"request.after[1].job_id": {Service: "s", After: []Dependency{ok, {Job: "LAST"}}},
	} {
		if refusal, is := errors.AsType[*problem.Problem](r.Validate()); !is || refusal.Field != field {
			t.Errorf("%s: %v", field, refusal)
		}
	}
	agreed := &Request{Service: "s", After: []Dependency{ok}, Deadline: 1, Agreement: &Agreement{}}
	refused(t, agreed.Validate(), problem.BadValue, "request.after")
	refused(t, (&Request{Service: "s", After: []Dependency{ok}, Into: numbered(7)}).Validate(), problem.BadValue,
		"request.after")
}

func TestHeldDependentIsNotStartedMovedOrHeldByARound(t *testing.T) {
	s := named(t, "s")
	queue(t, s, numbered(1))
	id := numbered(2)
	j := submit(t, s, 0, id, behind(Dependency{Job: numbered(1)}))
	if held, err := s.Hold(0, "round", batch.Minute, nil); err != nil || len(held) != 1 || held[0].ID != numbered(1) {
		t.Errorf("a round holds %v, %v", held, err)
	}
	if _, err := s.Place(0, "round", "agent", []Placement{{Job: id, To: "nancy"}, {Job: numbered(1)}}); err != nil {
		t.Error(err)
	}
	_, err := s.Move(0, MoveRequest{Job: id, To: "nancy"}, idle(id, sec(9)))
	refused(t, err, problem.NotWaiting, "job_id")
	if _, err := s.Starting(0, j.Key()); err == nil {
		t.Error("a held job can start")
	}
	if s.Tick(sec(1000)); s.Wake() != batch.Never {
		t.Error("a timer is set")
	}
	wants(t, s, id, Held)
	if _, err := s.Ended(0, j.Key(), batch.Outcome{End: batch.EndNeverRan}, nil); err != nil {
		t.Error(err)
	}
	if j := wants(t, s, id, Held); j.Attempt != 2 || len(j.Awaits()) != 1 {
		t.Errorf("attempt %d awaits %v", j.Attempt, j.Awaits())
	}
	if l := s.Load(); l.Waiting != 2 {
		t.Errorf("%+v", l)
	}
	if _, err := s.Cancel(0, id); err != nil {
		t.Error(err)
	}
	if j := wants(t, s, id, Cancelled); j.Awaits() != nil || s.Awaited(numbered(1)) || len(s.book.awaited) != 0 {
		t.Errorf("it awaits %v", j.Awaits())
	}
}

func TestDependencyAtAnotherSiteIsWatchedUntilItEnds(t *testing.T) {
	s := named(t, "s")
	far, id := numbered(1), numbered(2)
	j, err := s.Submit(0, Submission{
		ID: id, Request: behind(Dependency{Job: far}), Remote: []JobStatus{{far, Running}},
	}, &rectangles{processors: 4})
	if err != nil || j.State != Held {
		t.Fatalf("%v, %v", j.State, err)
	}
	same(t, "watched", take(s, 0).Watch, []batch.JobID{far})
	for _, state := range []State{Waiting, Running, Gone, Incoming, Absent} { // no ends
		s.UpdateRemote(sec(1), JobStatus{far, state})
	}
	wants(t, s, id, Held)
	if !s.Awaited(far) {
		t.Error("the job is no longer awaited")
	}
	s.UpdateRemote(sec(2), JobStatus{far, Done})
	wants(t, s, id, Waiting)
	if s.Awaited(far) {
		t.Error("the job is still awaited")
	}
	s.UpdateRemote(sec(3), JobStatus{far, Failed}) // wrong or late
	wants(t, s, id, Waiting)
}

func TestDependencyThatMovesIsWatchedAtItsNewSite(t *testing.T) {
	s := named(t, "s")
	far, id := numbered(1), numbered(2)
	queue(t, s, far)
	submit(t, s, 0, id, behind(Dependency{Job: far}))
	same(t, "watched while it is here", take(s, 0).Watch, nil)
	if _, err := s.Move(0, MoveRequest{Job: far, To: "t", MinGain: AnyGain}, idle(far, sec(9))); err != nil {
		t.Fatal(err)
	}
	s.Receive(0, &Message{Kind: Reserved, From: "t", To: "s", Job: far, Epoch: 1}, idle(far, sec(9)))
	s.UpdateRemote(0, JobStatus{far, Done}) // ignored: the job is at this site
	wants(t, s, id, Held)
	s.Claimed(0, take(s, 0).Claims[0], true)
	wants(t, s, far, Gone)
	same(t, "watched", take(s, 0).Watch, []batch.JobID{far})
	s.UpdateRemote(sec(1), JobStatus{far, Killed})
	wants(t, s, id, Cancelled)
}

// restarted returns a site that is restored from the records of another one.
func restarted(t testing.TB, s *Site, now batch.Time, disk map[batch.JobID]Record) *Site {
	t.Helper()
	again := named(t, s.config.Name)
	var all []Record
	for _, r := range disk {
		all = append(all, r)
	}
	if err := again.Restore(all); err != nil {
		t.Fatal(err)
	}
	return again
}

func TestDependenciesSurviveARestart(t *testing.T) {
	disk := make(map[batch.JobID]Record)
	s := named(t, "s")
	keep := func() {
		for _, w := range take(s, 0).Writes {
			disk[w.Record.ID] = w.Record
		}
	}
	far := numbered(1)
	queue(t, s, numbered(2))
	submit(t, s, 0, numbered(3), behind(Dependency{Job: numbered(2)}))
	if _, err := s.Submit(0, Submission{
		ID: numbered(4), Request: behind(Dependency{Job: far}), Remote: []JobStatus{{far, Waiting}},
	}, &rectangles{processors: 4}); err != nil {
		t.Fatal(err)
	}
	keep()
	s = restarted(t, s, 0, disk)
	if err := s.Recover(sec(1), nil); err != nil {
		t.Fatal(err)
	}
	fx := take(s, sec(1))
	same(t, "plans", planned(fx.Plans), "submit 2 reserve 3 hold 3 reserve 4 hold 4 ")
	same(t, "watched", fx.Watch, []batch.JobID{far})
	done(t, s, sec(2), numbered(2), batch.Outcome{End: batch.EndDone})
	s.UpdateRemote(sec(2), JobStatus{far, Done})
	wants(t, s, numbered(3), Waiting)
	wants(t, s, numbered(4), Waiting)
}

func TestDependencyThatEndedDuringDowntimeReleasesItsDependents(t *testing.T) {
	disk := make(map[batch.JobID]Record)
	s := named(t, "s")
	key := queue(t, s, numbered(1))
	submit(t, s, 0, numbered(2), behind(Dependency{Job: numbered(1)}))
	submit(t, s, 0, numbered(3), behind(Dependency{Job: numbered(1), Any: true}))
	_, _ = s.Running(sec(1), key, nil, nil)
	for _, w := range take(s, 0).Writes {
		disk[w.Record.ID] = w.Record
	}
	s = restarted(t, s, 0, disk)
	recovered := RecoveredAttempt{Found: batch.Found{
		Key: key, Phase: batch.PhaseEnded, Outcome: batch.Outcome{End: batch.EndFailed, ExitCode: 1},
	}}
	if err := s.Recover(sec(2), []RecoveredAttempt{recovered}); err != nil {
		t.Fatal(err)
	}
	wants(t, s, numbered(2), Cancelled)
	wants(t, s, numbered(3), Waiting)
	same(t, "plans", planned(take(s, sec(2)).Plans), "submit 3 ")
}

// TestDependentsFollowTheirConditions compares the site with an oracle that evaluates all
// dependencies at each step, over restarts.
func TestDependentsFollowTheirConditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Config{Name: "s", Platform: batch.Processors(4)})
		if err != nil {
			t.Fatal(err)
		}
		disk := make(map[batch.JobID]Record)
		after := make(map[batch.JobID][]Dependency)
		want := make(map[batch.JobID]State)
		var ids []batch.JobID
		settle := func() { // the oracle
			for again := true; again; {
				again = false
				for _, id := range ids {
					if want[id] != Held {
						continue
					}
					next := Waiting
					for _, d := range after[id] {
						switch on := want[d.Job]; {
						case on.Over() && !d.met(on):
							next = Cancelled
						case !on.Over() && next == Waiting:
							next = Held
						}
					}
					if next != Held {
						want[id], again = next, true
					}
				}
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 5 || len(ids) == 0:
				id := numbered(len(ids) + 1)
				r := behind()
				for range rapid.IntRange(0, 3).Draw(t, "dependencies") {
					if len(ids) > 0 {
						r.After = append(r.After, Dependency{
							Job: rapid.SampledFrom(ids).Draw(t, "on"), Any: rapid.Bool().Draw(t, "any"),
						})
					}
				}
				_, err := s.Submit(0, Submission{ID: id, Request: r}, &rectangles{processors: 4})
				bad := slices.ContainsFunc(r.After, func(d Dependency) bool {
					return want[d.Job].Over() && !d.met(want[d.Job])
				})
				if bad != (err != nil) {
					t.Fatalf("submit after %v: %v", r.After, err)
				}
				if err == nil {
					ids, after[id], want[id] = append(ids, id), r.After, Held
				}
			case what < 9:
				id := rapid.SampledFrom(ids).Draw(t, "job")
				if want[id] != Waiting {
					continue
				}
				o := rapid.SampledFrom([]batch.End{batch.EndDone, batch.EndFailed, batch.EndKilled}).Draw(t, "end")
				j, _ := s.Job(id)
				_, _ = s.Running(0, j.Key(), nil, nil)
				if _, err := s.Ended(0, j.Key(), batch.Outcome{End: o}, nil); err != nil {
					t.Fatal(err)
				}
				want[id] = map[batch.End]State{batch.EndDone: Done, batch.EndFailed: Failed, batch.EndKilled: Killed}[o]
			default:
				for _, w := range take(s, 0).Writes {
					disk[w.Record.ID] = w.Record
				}
				var all []Record
				for _, r := range disk {
					all = append(all, r)
				}
				s, _ = New(Config{Name: "s", Platform: batch.Processors(4)})
				if err := s.Restore(all); err != nil {
					t.Fatal(err)
				}
				if err := s.Recover(0, nil); err != nil {
					t.Fatal(err)
				}
			}
			settle()
			for _, id := range ids {
				if j, err := s.Job(id); err != nil || j.State != want[id] {
					t.Fatalf("job %s after %v is %v, want %v (%v)", id, after[id], j.State, want[id], err)
				}
			}
		}
	})
}
