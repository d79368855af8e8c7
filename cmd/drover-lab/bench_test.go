package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLatenciesAreNearestRanks(t *testing.T) {
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration(200-i)*time.Second)
	}
	if diff := cmp.Diff(latencyView{P50: 100, P90: 180, P99: 198, Max: 200}, latencyOf(took)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(latencyView{P50: 3, P90: 3, P99: 3, Max: 3},
		latencyOf([]time.Duration{3 * time.Second})); diff != "" {
		t.Errorf("of one (-want +got):\n%s", diff)
	}
	if got := latencyOf(nil); got != (latencyView{}) {
		t.Errorf("of none: %v", got)
	}
}
