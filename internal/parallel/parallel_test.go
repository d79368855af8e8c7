package parallel_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/parallel"
	"pgregory.net/rapid"
)

func TestMapReturnsTheResultsInTheOrderOfTheItems(t *testing.T) {
	items := make([]int, 100)
	for i := range items {
		items[i] = i
	}
	var finished []int
	square := func(i int) (int, error) { return i * i, nil }
	got, err := parallel.Map(t.Context(), 3, items, square, func(n int) { finished = append(finished, n) })
	if err != nil || len(finished) != 100 || !slices.IsSorted(finished) {
		t.Fatalf("%v, finished %v", err, finished)
	}
	for i := range got {
		if got[i] != i*i {
			t.Fatalf("result %d is %d", i, got[i])
		}
	}
}

func TestMapStartsNoItemAfterAnError(t *testing.T) {
	wrong := errors.New("wrong")
	var begun atomic.Int64
	fail := func(int) (int, error) { begun.Add(1); return 0, wrong }
	if _, err := parallel.Map(t.Context(), 2, make([]int, 1000), fail, func(int) {}); !errors.Is(err, wrong) ||
		begun.Load() > 2 {
		t.Errorf("%v after %d", err, begun.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := parallel.Map(ctx, 2, make([]int, 10), fail, func(int) {})
	if !errors.Is(err, context.Canceled) || errors.Is(err, wrong) {
		t.Error(err)
	}
}

func TestInOrderReportsTheResultsInTheOrderOfTheItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(0, 200).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "workers")
		stopAt := rapid.IntRange(0, 300).Draw(t, "stop at")
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		var done atomic.Int64
		var reported []int
		begun := parallel.InOrder(t.Context(), workers, items, func(i int) (int, bool) {
			done.Add(1)
			return i * i, i == stopAt
		}, func(i, r int) {
			if r != i*i {
				t.Fatalf("%d: %d", i, r)
			}
			reported = append(reported, i)
		})
		if !slices.IsSorted(reported) || len(reported) != begun || int(done.Load()) != begun {
			t.Fatalf("%d begun, %d done, reported %v", begun, done.Load(), reported)
		}
		if stopAt >= n && begun != n || stopAt < n && begun <= stopAt ||
			begun > stopAt+workers && stopAt < n && workers == 1 {
			t.Fatalf("%d of %d begun, stop at %d", begun, n, stopAt)
		}
	})
}

func TestWhatComesEarlyWaitsForWhatIsInFront(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	last := make(chan struct{})
	var reported []int
	parallel.InOrder(t.Context(), 2, items, func(i int) (int, bool) {
		switch i {
		case 0:
			<-last
		case 9:
			close(last)
		}
		return i, false
	}, func(i, _ int) { reported = append(reported, i) })
	if !slices.Equal(reported, items) {
		t.Errorf("reported %v", reported)
	}
}

func TestNothingIsBegunAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	items := make([]int, 1000)
	begun := parallel.InOrder(ctx, 1, items, func(int) (int, bool) { cancel(); return 0, false }, func(int, int) {})
	if begun != 1 {
		t.Errorf("%d begun", begun)
	}
}
