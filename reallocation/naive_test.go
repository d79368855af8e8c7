package reallocation_test

import (
	stdcmp "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// naive is a round that asks everybody about everything before each pick, as the
// paper does.
func (g *grid) naive(c reallocation.Config) {
	moves := 0
	present := make([]batch.Duration, len(g.jobs))
	var list []int
	regular := c.Algorithm == reallocation.Regular
	mayLeave := func(j int) bool {
		return (c.MostMoves == 0 || g.jobs[j].past.Moves < c.MostMoves) &&
			(c.MostMovesRound == 0 || moves < c.MostMovesRound)
	}
	for j, w := range g.jobs {
		present[j] = g.standing(w)
		switch {
		case regular && mayLeave(j):
			list = append(list, j)
		case !regular && present[j] < batch.Forever && (c.Patience == reallocation.Starve ||
			w.past.Later <= c.Patience):
			list = append(list, j)
		}
	}
	if !regular {
		g.hold(list)
	}
	window := len(list)
	switch {
	case c.Heuristic == reallocation.MCT:
		window = 0
	case c.Window != reallocation.All:
		window = min(window, int(c.Window))
	}
	if regular && window > 0 {
		list = list[:window]
	}
	type option struct {
		site int
		ect  batch.Duration
	}
	options := func(j int, elsewhere bool) []option { // best first, its own site first among equal ones
		var all []option
		own := g.jobs[j].site
		for s := range g.sites {
			switch {
			case s == own && regular && !elsewhere:
				all = append(all, option{s, g.standing(g.jobs[j])})
			case s == own && !regular:
				_, ect := g.quote(g.jobs[j].menu, s, 0)
				all = append(all, option{s, ect})
			case s != own && mayLeave(j):
				_, ect := g.quote(g.jobs[j].menu, s, 0)
				if !regular && ect < batch.Forever {
					ect += c.LeastGain
				}
				all = append(all, option{s, ect})
			}
		}
		rank := func(o option) int {
			if o.site == own {
				return -1
			}
			return o.site
		}
		slices.SortFunc(all, func(a, b option) int { return stdcmp.Or(stdcmp.Compare(a.ect, b.ect), rank(a)-rank(b)) })
		return all
	}
	key := func(j int) batch.Duration {
		all := options(j, false)
		best := all[0].ect
		switch c.Heuristic {
		case reallocation.MaxMin:
			return -best
		case reallocation.Sufferage:
			if len(all) == 1 || all[1].ect >= batch.Forever {
				return -batch.Forever
			}
			return best - all[1].ect
		case reallocation.MaxGain, reallocation.MaxRelGain:
			had := present[j]
			if regular {
				all = options(j, true)
				if len(all) == 0 {
					return batch.Forever
				}
				best, had = all[0].ect, g.standing(g.jobs[j])
			}
			if best >= batch.Forever {
				return batch.Forever
			}
			if c.Heuristic == reallocation.MaxRelGain {
				return (best - had) / batch.Duration(g.jobs[j].shape.Width)
			}
			return best - had
		}
		return best
	}
	for n := 0; len(list) > 0; n++ {
		at := 0
		if n < window {
			in := list[:min(window-n, len(list))]
			for i := range in {
				if key(in[i]) < key(in[at]) {
					at = i
				}
			}
		}
		j := list[at]
		list = slices.Delete(list, at, at+1)
		if !regular {
			best := options(j, false)[0]
			if best.site != g.jobs[j].site {
				moves++
			}
			g.put(j, best.site)
			continue
		}
		all := options(j, true)
		if had := g.standing(g.jobs[j]); len(all) > 0 && had < batch.Forever && all[0].ect < batch.Forever &&
			had-all[0].ect >= max(c.LeastGain, c.Threshold, 1) {
			g.move(j, all[0].site)
			moves++
		}
	}
}

// drawGrid draws sites that are full, with jobs waiting, of the grid and of local
// users.
func drawGrid(t *rapid.T) func(testing.TB) *grid {
	widths := rapid.SliceOfN(rapid.Int32Range(2, 8), 1, 4).Draw(t, "widths")
	type drawn struct {
		site    int
		local   bool
		width   int32
		seconds int64
		molds   bool
		past    reallocation.Past
	}
	var all []drawn
	for range rapid.IntRange(1, 24).Draw(t, "jobs") {
		s := rapid.IntRange(0, len(widths)-1).Draw(t, "site")
		all = append(all, drawn{
			s, rapid.IntRange(0, 3).Draw(t, "local") == 0, rapid.Int32Range(1, widths[s]).Draw(t, "width"),
			int64(rapid.IntRange(1, 12).Draw(t, "length")) * 30, rapid.Bool().Draw(t, "moldable"),
			reallocation.Past{
				Moves: rapid.IntRange(0, 2).Draw(t, "moves"), Later: rapid.IntRange(0, 2).Draw(t, "later"),
			},
		})
	}
	return func(tb testing.TB) *grid {
		g := newGrid(tb, widths...)
		for _, d := range all {
			menu := rigid(d.width, d.seconds)
			if d.local {
				g.submit(d.site, menu[0], nil)
				continue
			}
			if d.molds {
				menu = nil
				for w := int32(1); w <= 8; w++ {
					menu = append(menu, rigid(w, (d.seconds*int64(d.width)+int64(w)-1)/int64(w)+5)...)
				}
			}
			g.wait(d.site, menu)
			if j := g.jobs[len(g.jobs)-1]; j.gone {
				g.jobs = g.jobs[:len(g.jobs)-1]
			} else {
				j.past = d.past
			}
		}
		return g
	}
}

// TestLazyAndNaiveChooseTheSame for every algorithm and heuristic, in one round
// after another.
func TestLazyAndNaiveChooseTheSame(t *testing.T) {
	for a := reallocation.Regular; a <= reallocation.AllCancellation; a++ {
		for h := reallocation.MCT; h <= reallocation.MaxRelGain; h++ {
			t.Run(fmt.Sprintf("%v-%v", a, h), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					c := reallocation.Config{
						Algorithm: a, Heuristic: h, Window: reallocation.All, Period: batch.Hour,
						Threshold:      batch.Duration(rapid.IntRange(0, 2).Draw(rt, "threshold")) * 30 * batch.Second,
						LeastGain:      batch.Duration(rapid.IntRange(0, 2).Draw(rt, "least gain")) * 30 * batch.Second,
						MostMoves:      rapid.IntRange(0, 2).Draw(rt, "most moves"),
						MostMovesRound: rapid.IntRange(0, 4).Draw(rt, "most in a round"),
						Patience:       rapid.IntRange(-1, 1).Draw(rt, "patience"),
					}
					if w := rapid.IntRange(0, 6).Draw(rt, "window"); w > 0 {
						c.Window = reallocation.Window(w)
					}
					build := drawGrid(rt)
					lazy, slow := build(t), build(t)
					lazy.unsure = rapid.Bool().Draw(rt, "unsure")
					lazy.alike = rapid.Bool().Draw(rt, "alike")
					lazy.run(c, nil)
					slow.naive(c)
					if got, want := strings.Join(lazy.log, " "), strings.Join(slow.log, " "); got != want {
						rt.Fatalf("lazy  %s\nnaive %s", got, want)
					}
				})
			})
		}
	}
}

// TestLazyAndNaiveChooseTheSameAmongHundreds is what small grids show too rarely:
// long queues, in which what one job leaves is taken by many others.
func TestLazyAndNaiveChooseTheSameAmongHundreds(t *testing.T) {
	for a := reallocation.Regular; a <= reallocation.AllCancellation; a++ {
		for h := reallocation.MCT; h <= reallocation.MaxRelGain; h++ {
			t.Run(fmt.Sprintf("%v-%v", a, h), func(t *testing.T) {
				c := reallocation.Default
				c.Algorithm, c.Heuristic, c.Window = a, h, reallocation.All
				for seed := range uint64(3) {
					slow := crowded(t, 6, 150, 4, seed)
					slow.naive(c)
					for _, alike := range []bool{false, true} {
						lazy := crowded(t, 6, 150, 4, seed)
						lazy.alike = alike
						lazy.run(c, nil)
						if diff := cmp.Diff(slow.log, lazy.log); diff != "" {
							t.Fatalf("seed %d, alike %v: %s", seed, alike, diff)
						}
					}
				}
			})
		}
	}
}
