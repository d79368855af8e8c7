package server

import (
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestLaunchesPauseLongerWithEachFailureAndContinueAfterASuccess(t *testing.T) {
	var l launches
	at := time.Unix(1e9, 0)
	if l.delay(at) != 0 || l.succeeded() {
		t.Error("closed before a failure")
	}
	began := at
	for i := range 8 {
		pause, closed := l.failed(at, "no files")
		// The pauses are 1, 2, 4, ... 30 s, each up to half as long or longer.
		want := min(firstLaunchPause<<i, longestLaunchPause)
		if !closed || pause < want/2 || pause > want*3/2 {
			t.Errorf("failure %d: closed %v for %v, want about %v", i, closed, pause, want)
		}
		if _, again := l.failed(at, "no memory"); again {
			t.Errorf("failure %d: a second failure in the pause closes again", i)
		}
		if left, why := l.closed(at); left != pause || why != "no files" {
			t.Errorf("failure %d: closed for %v: %s", i, left, why)
		}
		if d := l.delay(at).Std(); d < pause || d < at.Sub(began).Truncate(time.Microsecond) {
			t.Errorf("failure %d: delay %v", i, d)
		}
		at = at.Add(pause)
		if left, why := l.closed(at); left != 0 || why != "" || l.delay(at) != 0 {
			t.Errorf("failure %d: still closed for %v: %s", i, left, why)
		}
	}
	if _, closed := l.failed(at, "no files"); !closed {
		t.Error("open after a failure")
	}
	if !l.succeeded() || l.delay(at) != 0 {
		t.Error("closed after a success")
	}
	if pause, _ := l.failed(at, "no files"); pause > 2*firstLaunchPause {
		t.Errorf("the first pause after a success is %v", pause)
	}
	if d := l.delay(at); d > batch.Duration(2*firstLaunchPause/time.Microsecond) {
		t.Errorf("the first delay after a success is %v", d)
	}
}
