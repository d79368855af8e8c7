package queue

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// all returns the jobs in order and fails the test if the summary of a block is wrong.
func all(t *rapid.T, q *Queue) []Item {
	var items []Item
	last := (*Block)(nil)
	for b := q.Head(); b != nil; b = q.Next(b) {
		if b.N == 0 {
			t.Fatalf("empty block in the queue")
		}
		if least := slices.Min(b.Charge[:b.N]); least != b.Least {
			t.Fatalf("Least %d, want %d", b.Least, least)
		}
		if first := slices.Min(b.Start[:b.N]); first < b.First {
			t.Fatalf("First %d, but a job starts at %d", b.First, first)
		}
		for i := range b.N {
			items = append(items, Item{b.Job[i], b.Charge[i], b.Walltime[i], b.Start[i], b.seq[i]})
		}
		last = b
	}
	if last != nil && last != &q.blocks[q.tail] {
		t.Fatalf("the tail is not the last block")
	}
	return items
}

func TestTheQueueIsSortedBySequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var want []Item
		job, seq := batch.Handle(0), int64(0)
		put := func(it Item) {
			q.Add(it)
			at, _ := slices.BinarySearchFunc(want, it.Seq, func(a Item, s int64) int { return int(a.Seq - s) })
			want = slices.Insert(want, at, it)
		}
		draw := func(t *rapid.T) Item {
			job++
			seq += 2
			return Item{
				job, int32(rapid.IntRange(1, 9).Draw(t, "charge")),
				batch.Duration(rapid.IntRange(1, 9).Draw(t, "walltime")),
				batch.Time(rapid.IntRange(1, 99).Draw(t, "start")), seq,
			}
		}
		pick := func(t *rapid.T) int {
			if len(want) == 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, len(want)-1).Draw(t, "which")
		}
		t.Repeat(map[string]func(*rapid.T){
			"last": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "count") {
					put(draw(t))
				}
			},
			"between": func(t *rapid.T) {
				at := pick(t)
				it := draw(t)
				it.Seq = want[at].Seq - 1
				if at == 0 || want[at-1].Seq != it.Seq {
					put(it)
				}
			},
			"remove": func(t *rapid.T) {
				for range rapid.IntRange(1, 90).Draw(t, "count") {
					at := pick(t)
					if got := q.Remove(want[at].Job); got != want[at] {
						t.Fatalf("removed %v, want %v", got, want[at])
					}
					want = slices.Delete(want, at, at+1)
				}
			},
			"start": func(t *rapid.T) {
				at := pick(t)
				b, i := q.Locate(want[at].Job)
				want[at].Start = batch.Time(rapid.IntRange(1, 99).Draw(t, "start"))
				q.SetStart(b, i, want[at].Start)
			},
			"clone": func(*rapid.T) {
				old := q
				q = old.Clone()
				for old.Len() > 0 {
					old.RemoveAt(old.Head(), 0)
				}
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(want, all(t, &q),
					cmp.Comparer(func(a, b []Item) bool { return slices.Equal(a, b) })); diff != "" {
					t.Fatal(diff)
				}
				first := batch.Never
				for _, it := range want {
					first = min(first, it.Start)
					if b, i := q.Locate(it.Job); b.Job[i] != it.Job || b.seq[i] != it.Seq {
						t.Fatalf("Locate returns a wrong position for job %d", it.Job)
					}
				}
				if got := q.FirstStart(); got != first {
					t.Fatalf("FirstStart = %d, want %d", got, first)
				}
			},
		})
	})
}
