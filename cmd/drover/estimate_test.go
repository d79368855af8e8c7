package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client"
)

func TestDefaultWidths(t *testing.T) {
	for _, c := range []struct {
		least, most int
		want        []int
	}{
		{1, 1, []int{1}},
		{0, 3, []int{1, 2, 3}},
		{2, 4, []int{2, 3, 4}},
		{1, 17, []int{1, 2, 4, 8, 16, 17}},
		{3, 64, []int{3, 4, 8, 16, 32, 64}},
	} {
		if got := defaultWidths(c.least, c.most); !cmp.Equal(got, c.want) {
			t.Errorf("%d..%d: %v, want %v", c.least, c.most, got, c.want)
		}
	}
	if n := len(defaultWidths(1, 1<<31-1)); n > maxWidths-2 {
		t.Errorf("%d widths of the widest service", n)
	}
}

func TestBestOfferFinishesFirstWithFewestCoreHours(t *testing.T) {
	menu := []offer{
		{width: 1, Candidate: &client.Candidate{Missing: &client.Missing{}}},
		{width: 4, Candidate: &client.Candidate{Run: 10 * time.Second, Completion: 20 * time.Second}},
		{width: 2, Candidate: &client.Candidate{Run: 15 * time.Second, Completion: 20 * time.Second}},
		{width: 1, Candidate: &client.Candidate{Run: time.Second, Completion: 21 * time.Second}},
	}
	if best := bestOffer(menu); best != 2 {
		t.Errorf("best is %d", best)
	}
	if best := bestOffer(menu[:1]); best != -1 {
		t.Errorf("best of none is %d", best)
	}
}
