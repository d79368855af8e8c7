package main

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func TestManyAreToldInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(0, 200).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "workers")
		stopAt := rapid.IntRange(0, 300).Draw(t, "stop at")
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		var done atomic.Int64
		var told []int
		begun := inOrder(t.Context(), workers, items, func(i int) (int, bool) {
			done.Add(1)
			return i * i, i == stopAt
		}, func(i, r int) {
			if r != i*i {
				t.Fatalf("%d: %d", i, r)
			}
			told = append(told, i)
		})
		if !slices.IsSorted(told) || len(told) != begun || int(done.Load()) != begun {
			t.Fatalf("%d begun, %d done, told %v", begun, done.Load(), told)
		}
		if stopAt >= n && begun != n || stopAt < n && begun <= stopAt || begun > stopAt+workers && stopAt < n && workers == 1 {
			t.Fatalf("%d of %d begun, stop at %d", begun, n, stopAt)
		}
	})
}

func TestWhatComesEarlyWaitsForWhatIsInFront(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	last := make(chan struct{})
	var told []int
	inOrder(t.Context(), 2, items, func(i int) (int, bool) {
		switch i {
		case 0:
			<-last
		case 9:
			close(last)
		}
		return i, false
	}, func(i, _ int) { told = append(told, i) })
	if !slices.Equal(told, items) {
		t.Errorf("told %v", told)
	}
}

func TestNothingIsBegunAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	items := make([]int, 1000)
	begun := inOrder(ctx, 1, items, func(int) (int, bool) { cancel(); return 0, false }, func(int, int) {})
	if begun != 1 {
		t.Errorf("%d begun", begun)
	}
}
