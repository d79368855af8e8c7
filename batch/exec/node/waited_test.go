package node

import (
	"testing"
	"time"
)

func TestTheTimeThatThreadsHaveWaitedIsTheSecondFigure(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"560210 645660 4\n": 645660, "5 0 1": 0, "": 0, "7": 0, "1 x 2": 0, "1 -3 2": 0, "1 9223372036854775808 1": 0,
	} {
		if got := parseWaited(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
