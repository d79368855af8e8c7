package site

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// restarted returns a site with what the writes of another one have made durable.
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

func TestARestartGoesOnWithWhatWasAwaited(t *testing.T) {
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
	if _, err := s.Submit(0, Submission{ID: numbered(4), Request: behind(Dependency{Job: far}), Told: []Told{{far, Waiting}}}, &rectangles{processors: 4}); err != nil {
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
	s.Heard(sec(2), Told{far, Done})
	wants(t, s, numbered(3), Waiting)
	wants(t, s, numbered(4), Waiting)
}

func TestAJobThatEndedWhileTheServerWasAwayLetsOthersGoOn(t *testing.T) {
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
	fate := Fate{Found: batch.Found{Key: key, Phase: batch.PhaseEnded, Outcome: batch.Outcome{End: batch.EndFailed, ExitCode: 1}}}
	if err := s.Recover(sec(2), []Fate{fate}); err != nil {
		t.Fatal(err)
	}
	wants(t, s, numbered(2), Cancelled)
	wants(t, s, numbered(3), Waiting)
	same(t, "plans", planned(take(s, sec(2)).Plans), "submit 3 ")
}

// TestDependentsDoWhatTheirConditionsSay compares the site with an oracle that looks
// at everything again and again, over restarts.
func TestDependentsDoWhatTheirConditionsSay(t *testing.T) {
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
						r.After = append(r.After, Dependency{Job: rapid.SampledFrom(ids).Draw(t, "on"), Any: rapid.Bool().Draw(t, "any")})
					}
				}
				_, err := s.Submit(0, Submission{ID: id, Request: r}, &rectangles{processors: 4})
				bad := slices.ContainsFunc(r.After, func(d Dependency) bool { return want[d.Job].Over() && !d.met(want[d.Job]) })
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
