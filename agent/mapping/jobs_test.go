package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

var roomy = JobsLimits{Active: 1000, Gone: 1000, GoneFor: batch.Hour}

// listed returns the IDs of a site's jobs after a cursor, at most n.
func listed(j *Jobs, site string, at Cursor, n int) (ids []string, last Cursor) {
	j.After(site, at, func(d *Digest) bool {
		if len(ids) == n {
			return false
		}
		ids, last = append(ids, d.ID), Cursor{d.Submitted, d.ID}
		return true
	})
	return ids, last
}

func TestJobsAreRememberedInOrderUntilTheyEnd(t *testing.T) {
	j := NewJobs(roomy)
	j.Begin("lyon")
	j.Begin("nancy")
	for i, id := range []string{"c", "a", "b", "d"} {
		j.Put(0, "lyon", Digest{ID: id, State: Waiting, Submitted: int64(4 - i)})
	}
	j.Put(0, "nancy", Digest{ID: "e", State: Running})
	j.Put(0, "lyon", Digest{ID: "b", State: Done, Submitted: 2})
	j.Put(0, "lyon", Digest{ID: "a", State: Gone, Epoch: 1, To: "nancy", Submitted: 3})
	first, at := listed(j, "lyon", Cursor{}, 1)
	rest, _ := listed(j, "lyon", at, 9)
	if d := gocmp.Diff([]string{"d", "c"}, append(first, rest...)); d != "" {
		t.Error(d)
	}
	if d, ok := j.Get("lyon", "a"); !ok || d.To != "nancy" {
		t.Errorf("where a has gone is forgotten: %+v", d)
	}
	if _, ok := j.Get("lyon", "b"); ok {
		t.Error("b has ended and is remembered")
	}
	if a, g := j.Len(); a != 3 || g != 1 || j.Active("lyon") != 2 || j.Active("metz") != 0 {
		t.Errorf("%d active, %d gone, %d at lyon", a, g, j.Active("lyon"))
	}
	j.Forget("lyon")
	j.Forget("lyon")
	if a, g := j.Len(); a != 1 || g != 0 {
		t.Errorf("after lyon was forgotten: %d active, %d gone", a, g)
	}
}

func TestJobsThatAreNotReportedAgainHaveEnded(t *testing.T) {
	j := NewJobs(roomy)
	j.Begin("lyon")
	for _, id := range []string{"a", "b", "c"} {
		j.Put(0, "lyon", Digest{ID: id, State: Waiting})
	}
	j.Put(0, "lyon", Digest{ID: "g", State: Gone, To: "nancy"})
	j.Begin("lyon")
	j.Put(0, "lyon", Digest{ID: "b", State: Running})
	if ids, _ := listed(j, "lyon", Cursor{}, 9); len(ids) != 3 {
		t.Errorf("before the sync: %v", ids)
	}
	j.Synced("lyon")
	if ids, _ := listed(j, "lyon", Cursor{}, 9); !slices.Equal(ids, []string{"b"}) {
		t.Errorf("after: %v", ids)
	}
	if _, ok := j.Get("lyon", "g"); !ok {
		t.Error("the site that g went to is forgotten, although it is never reported again")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	j := NewJobs(JobsLimits{Active: 2, Gone: 2, GoneFor: 10 * s})
	j.Begin("lyon")
	var kept []bool
	for _, id := range []string{"a", "b", "c"} {
		kept = append(kept, j.Put(0, "lyon", Digest{ID: id, State: Waiting}))
	}
	if !slices.Equal(kept, []bool{true, true, false}) || !j.Put(0, "lyon", Digest{ID: "a", State: Running}) {
		t.Errorf("kept %v", kept)
	}
	gone := func() (out string) {
		for _, id := range []string{"v", "w", "x", "y"} {
			if _, ok := j.Get("lyon", id); ok {
				out += id
			}
		}
		return out
	}
	for i, id := range []string{"v", "w", "x"} {
		j.Put(batch.Time(i)*batch.Time(s), "lyon", Digest{ID: id, State: Gone, Epoch: 1})
	}
	if got := gone(); got != "wx" {
		t.Errorf("gone ones: %s, want the last two", got)
	}
	for range 100 {
		j.Put(batch.Time(3*s), "lyon", Digest{ID: "x", State: Gone, Epoch: 1}) // reported again: no news
	}
	if len(j.gone) > 3 {
		t.Errorf("%d notes of what has gone, for two jobs", len(j.gone))
	}
	j.Put(batch.Time(11*s), "lyon", Digest{ID: "y", State: Gone, Epoch: 1})
	if got := gone(); got != "xy" {
		t.Errorf("10 s after w has gone: %s", got)
	}
	j.Put(batch.Time(12*s), "lyon", Digest{ID: "y", State: Incoming, Epoch: 2})
	if a, g := j.Len(); a != 2 || g != 0 {
		t.Errorf("%d active, %d gone", a, g)
	}
}

func TestMemoryMatchesAPlainMapOverRandomNews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := NewJobs(JobsLimits{Active: 5, Gone: 3, GoneFor: 20 * s})
		type report struct {
			Digest
			fresh bool
			at    batch.Time
			put   int
		}
		want := map[string]*report{} // by site and job
		for _, site := range []string{"a", "b"} {
			j.Begin(site)
		}
		count := func(gone bool) (n int) {
			for _, w := range want {
				if w.State == Gone == gone {
					n++
				}
			}
			return n
		}
		var now batch.Time
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += batch.Time(rapid.IntRange(0, 5).Draw(t, "pause")) * batch.Time(s)
			site := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "site")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				j.Begin(site)
				for k, w := range want {
					w.fresh = w.fresh && k[:1] != site
				}
			case 1:
				j.Synced(site)
				for k, w := range want {
					if k[:1] == site && w.State != Gone && !w.fresh {
						delete(want, k)
					}
				}
			default:
				d := Digest{
					ID: fmt.Sprint(rapid.IntRange(0, 7).Draw(t, "job")),
					State: rapid.SampledFrom([]State{Waiting, Running, Moving, Gone, Done, Incoming}).Draw(t,
						"state"),
					Submitted: int64(rapid.IntRange(0, 3).Draw(t, "submitted")), Epoch: uint32(step),
				}
				for k, w := range want { // those that are gone for long
					if w.State == Gone && now.Sub(w.at) >= 20*s {
						delete(want, k)
					}
				}
				delete(want, site+d.ID)
				switch {
				case d.State == Done:
				case d.State == Gone || count(false) < 5:
					want[site+d.ID] = &report{Digest: d, fresh: true, at: now, put: step}
				}
				for count(true) > 3 {
					oldest := ""
					for k, w := range want {
						if w.State == Gone && (oldest == "" || w.put < want[oldest].put) {
							oldest = k
						}
					}
					delete(want, oldest)
				}
				if kept, has := j.Put(now, site, d), want[site+d.ID] != nil; kept != (has || d.State == Done) {
					t.Fatalf("put: %v", kept)
				}
			}
			for _, site := range []string{"a", "b"} {
				var active []Digest
				moving := 0
				for k, w := range want {
					if k[:1] == site && w.State != Gone {
						active = append(active, w.Digest)
						if w.State == Moving {
							moving++
						}
					}
				}
				slices.SortFunc(active, func(a, b Digest) int {
					return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.ID, b.ID))
				})
				var got []Digest
				j.After(site, Cursor{}, func(d *Digest) bool { got = append(got, *d); return true })
				if d := gocmp.Diff(active, got); d != "" {
					t.Fatalf("%s: %s", site, d)
				}
				if j.movesUnderWay(site) != moving {
					t.Fatalf("%s: %d moves under way, want %d", site, j.movesUnderWay(site), moving)
				}
			}
			if a, g := j.Len(); a != count(false) || g != count(true) {
				t.Fatalf("%d active and %d gone, want %d and %d", a, g, count(false), count(true))
			}
		}
	})
}

func BenchmarkRemember(b *testing.B) {
	j := NewJobs(JobsLimits{Active: 1e6, Gone: 1e5, GoneFor: batch.Hour})
	j.Begin("lyon")
	for i := range 1_000_000 {
		j.Put(0, "lyon", Digest{
			ID: fmt.Sprintf("%036d", i), State: Waiting, Submitted: int64(i), Service: "lu", Owner: "ann",
		})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 7919) % 1_000_000
		j.Put(0, "lyon", Digest{
			ID: fmt.Sprintf("%036d", i), State: Running, Submitted: int64(i), Service: "lu", Owner: "ann",
		})
	}
}
