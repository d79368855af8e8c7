package main

import (
	"testing"
	"time"
)

func TestBusyTimeExcludesIdleTime(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"cpu  100 20 30 4000 500 6 7 8 90 10":  (100 + 20 + 30 + 6 + 7 + 8) * 10 * time.Millisecond,
		"cpu  0 0 0 0 0 0 0 0 0 0":             0,
		"cpu  100 20 30":                       0,
		"cpu0 100 20 30 4000 500 6 7 8 90 10":  0,
		"cpu  100 20 many 4000 500 6 7 8 90 1": 0,
		"":                                     0,
	} {
		if got, known := busyOf([]byte(line)); got != want || known != (want > 0) {
			t.Errorf("%q: %v, %v", line, got, known)
		}
	}
	if now, known := hostBusy(); known && now <= 0 {
		t.Error(now)
	}
}
