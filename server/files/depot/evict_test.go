package depot

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatGoesFirst(t *testing.T) {
	f := open(t, t.TempDir(), 50, 0)
	f.must(1, "sticky....", Sticky)
	f.must(2, "persistent", Persistent)
	f.must(3, "copy......", Persistent, isCopy)
	f.must(4, "volatile..", Volatile)
	f.must(5, "later.....", Persistent)
	if _, err := f.Use(id(2), ""); err != nil { // 5 is now the one used longest ago
		t.Fatal(err)
	}
	for i, want := range []string{
		"1 2 3 5 10",   // the volatile ones,
		"1 2 5 10 11",  // then copies,
		"1 2 10 11 12", // then the persistent ones, the least recently used first
		"1 10 11 12 13",
	} {
		f.must(10+i, fmt.Sprintf("ten bytes%d", i), Persistent, func(d *Data) {})
		if got := f.here(); got != want {
			t.Fatalf("after %d: %s, want %s", 10+i, got, want)
		}
	}
	var gone *GoneError
	if _, err := f.Get(id(4)); !errors.As(err, &gone) || gone.Fate != Evicted || gone.At.IsZero() {
		t.Errorf("what became of the volatile ones: %v", err)
	}
	if u := f.Usage(); u.Evicted != 4 || u.Used != 50 || u.Handles != 5 {
		t.Errorf("usage: %+v", u)
	}
}

func TestNothingGoesWhereItWouldNotBeEnough(t *testing.T) {
	f := open(t, t.TempDir(), 30, 0)
	f.must(1, "sticky....", Sticky)
	f.must(2, "persistent", Persistent)
	var quota *QuotaError
	err := f.put(3, "more than twenty bytes", Persistent)
	if !errors.As(err, &quota) || !quota.All || quota.Need != 22 || quota.Quota != 30 || quota.Fixed != 10 {
		t.Errorf("put: %v", err)
	}
	if got := f.here(); got != "1 2" {
		t.Errorf("handles: %s", got)
	}
	if err := f.Room(&Data{SHA256: sum("x"), Size: 20, Owner: "ann"}); err != nil {
		t.Errorf("room for 20: %v", err)
	}
	if err := f.Room(&Data{SHA256: sum("x"), Size: 21, Owner: "ann"}); !errors.As(err, &quota) {
		t.Errorf("room for 21: %v", err)
	}
}

func TestTheSameContentCountsOnceAndGoesWithAllItsHandles(t *testing.T) {
	f := open(t, t.TempDir(), 20, 0)
	f.must(1, "ten bytes.", Persistent)
	f.must(2, "ten bytes.", Volatile)
	f.must(3, "ten bytes.", Persistent, of("bob"))
	f.must(4, "ten bytes!", Volatile)
	if u := f.Usage(); u.Used != 20 || u.Handles != 4 {
		t.Fatalf("usage: %+v", u)
	}
	f.must(5, "nine byte", Persistent) // 2 is volatile, but would make no room
	if got := f.here(); got != "1 2 3 5" {
		t.Fatalf("handles: %s", got)
	}
	f.must(6, "eleven byte", Persistent)
	if got := f.here(); got != "5 6" {
		t.Errorf("handles: %s", got)
	}
}

func TestAnOwnersQuotaIsHisOwn(t *testing.T) {
	f := open(t, t.TempDir(), 100, 20)
	f.must(1, "bob's data", Volatile, of("bob"))
	f.must(2, "ann's data", Persistent)
	f.must(3, "ann's more", Persistent)
	f.must(4, "ann's last", Persistent)
	if got := f.here(); got != "1 3 4" {
		t.Fatalf("handles: %s", got)
	}
	f.must(5, "bob's data", Sticky) // counts for ann as well as for bob
	if got := f.here(); got != "1 4 5" {
		t.Fatalf("handles: %s", got)
	}
	var quota *QuotaError
	if err := f.put(6, "eleven byte", Persistent); !errors.As(err, &quota) || quota.All || quota.Owner != "ann" ||
		quota.Fixed != 10 {
		t.Errorf("beyond ann's quota: %v", err)
	}
	if got := f.here(); got != "1 4 5" {
		t.Errorf("handles: %s", got)
	}
}

func TestHandlesAreBoundedThoughTheyTakeNoRoom(t *testing.T) {
	f := open(t, t.TempDir(), 100, 0)
	f.most = 2
	f.must(1, "", Sticky)
	f.must(2, "", Sticky)
	var quota *QuotaError
	if err := f.put(3, "", Persistent); !errors.As(err, &quota) || quota.Handles != 2 {
		t.Errorf("a third: %v", err)
	}
	if _, _, err := f.Remove(id(2)); err != nil {
		t.Fatal(err)
	}
	f.must(3, "x", Persistent)
	f.must(4, "y", Persistent)
	if got := f.here(); got != "1 4" {
		t.Errorf("handles: %s", got)
	}
}

// quick makes a directory that costs little to sync, if there is such a place.
func quick(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "depot-*") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A depot against a plain list of what it should hold.
func TestRoomByAnOracle(t *testing.T) {
	texts := []string{"", "a", "bb", "ccc", "ccd", "dddd", "eeeeeee"}
	owners := []string{"ann", "bob"}
	rapid.Check(t, func(r *rapid.T) {
		const quota, own = 10, 7
		f := open(t, quick(t), quota, own)
		var have []Data // the least recently used first
		size := func(in []Data, of func(Data) bool) (n int64) {
			seen := map[string]bool{}
			for _, d := range in {
				if of(d) && !seen[d.SHA256] {
					seen[d.SHA256] = true
					n += d.Size
				}
			}
			return n
		}
		// evict drops whole contents, one at a time, until all fit; nil if they cannot.
		evict := func(in []Data, d Data, limit int64, of func(Data) bool) []Data {
			for size(append(slices.Clone(in), d), of) > limit {
				type victim struct {
					rank, last int
					sha        string
				}
				var best []victim
				for _, one := range in {
					if !of(one) || one.SHA256 == d.SHA256 {
						continue
					}
					v := victim{sha: one.SHA256}
					for i, o := range in {
						if of(o) && o.SHA256 == one.SHA256 {
							v.rank, v.last = max(v.rank, o.rank()), max(v.last, i)
						}
					}
					if v.rank < rankSticky && one.Size > 0 { // nobody goes for nothing
						best = append(best, v)
					}
				}
				if len(best) == 0 {
					return nil
				}
				least := slices.MinFunc(best, func(a, b victim) int {
					return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.last, b.last))
				})
				in = slices.DeleteFunc(slices.Clone(in), func(o Data) bool { return of(o) && o.SHA256 == least.sha })
				if in == nil {
					in = []Data{}
				}
			}
			return in
		}
		next := 0
		r.Repeat(map[string]func(*rapid.T){
			"put": func(r *rapid.T) {
				next++
				text := rapid.SampledFrom(texts).Draw(r, "text")
				d := Data{
					ID: id(next), SHA256: sum(text), Size: int64(len(text)), Owner: rapid.SampledFrom(owners).Draw(r,
						"owner"),
					Mode: rapid.SampledFrom([]Mode{Volatile, Persistent, Persistent, Sticky}).Draw(r, "mode"),
				}
				d.Copy = d.Mode != Sticky && rapid.Bool().Draw(r, "copy")
				want := append([]Data{}, have...)
				mine := func(o Data) bool { return o.Owner == d.Owner }
				if size(append(slices.Clone(want), d), mine) > size(want, mine) { // what is there already needs no room
					want = evict(want, d, own, mine)
				}
				everybody := func(Data) bool { return true }
				if want != nil && size(append(slices.Clone(want), d), everybody) > size(want, everybody) {
					want = evict(want, d, quota, everybody)
				}
				err := f.put(next, text, d.Mode, of(d.Owner), func(o *Data) { o.Copy = d.Copy })
				var full *QuotaError
				if want == nil {
					if !errors.As(err, &full) {
						r.Fatalf("put %+v: %v, there is no room", d, err)
					}
					return
				}
				if err != nil {
					r.Fatalf("put %+v: %v, there is room", d, err)
				}
				have = append(want, d)
			},
			"use": func(r *rapid.T) {
				if len(have) == 0 {
					r.Skip("nothing there")
				}
				i := rapid.IntRange(0, len(have)-1).Draw(r, "which")
				d := have[i]
				if _, err := f.Use(d.ID, ""); err != nil {
					r.Fatal(err)
				}
				have = append(slices.Delete(slices.Clone(have), i, i+1), d)
			},
			"remove": func(r *rapid.T) {
				if len(have) == 0 {
					r.Skip("nothing there")
				}
				i := rapid.IntRange(0, len(have)-1).Draw(r, "which")
				if _, ok, err := f.Remove(have[i].ID); err != nil || !ok {
					r.Fatal(ok, err)
				}
				have = slices.Delete(slices.Clone(have), i, i+1)
			},
			"restart": func(r *rapid.T) {
				at := f.now()
				f = open(t, f.dir, quota, own)
				for f.now().Before(at) {
				}
			},
			"": func(r *rapid.T) {
				var want []string
				for _, d := range have {
					want = append(want, d.ID)
				}
				slices.Sort(want)
				var got []string
				page, _ := f.List("", 1000, func(*Data) bool { return true })
				for _, d := range page {
					got = append(got, d.ID)
				}
				if !slices.Equal(got, want) {
					r.Fatalf("handles:\n%s\nshould be\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				all := size(have, func(Data) bool { return true })
				if u := f.Usage(); u.Used != all || all > quota || u.Handles != len(have) {
					r.Fatalf("usage: %+v, should be %d bytes", u, all)
				}
				for _, d := range have {
					if _, err := f.content.Find(d.SHA256); err != nil {
						r.Fatalf("content of %s: %v", d.ID, err)
					}
				}
			},
		})
	})
}
