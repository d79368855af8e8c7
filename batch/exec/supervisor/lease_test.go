package supervisor

import (
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

const ms = time.Millisecond

func TestALeaseEndsItsDurationAfterTheTokenThatRenewedItLast(t *testing.T) {
	l := newLease("me")
	first := l.token(100 * ms)
	if l.held(100 * ms) {
		t.Error("held before it was renewed")
	}
	l.renew(first, 50*ms, 120*ms) // delivered after 20 ms
	for now, want := range map[time.Duration]bool{120 * ms: true, 149 * ms: true, 150 * ms: false} {
		if got := l.held(now); got != want {
			t.Errorf("at %v: held %v, want %v", now, got, want)
		}
	}
	second := l.token(140 * ms)
	l.renew(second, 50*ms, 145*ms)
	l.renew(first, 5*time.Second, 146*ms) // overtaken
	if !l.held(189*ms) || l.held(190*ms) {
		t.Errorf("until %v", l.until)
	}
	if l.over(189*ms) || !l.over(190*ms) || l.over(191*ms) || l.ends != 1 {
		t.Errorf("its end was reported at the wrong time or not once; ends: %d", l.ends)
	}
}

func TestAnOldOrForeignTokenRenewsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		token attempt.Token
		now   time.Duration
	}{
		"a token as old as the lease": {newLease("me").token(100 * ms), 150 * ms},
		"another supervisor's":        {newLease("you").token(100 * ms), 110 * ms},
		"none":                        {nil, 110 * ms},
		"not a number":                {attempt.Token("me@x"), 110 * ms},
		"before the boot":             {attempt.Token("me@-5"), 110 * ms},
		"a future token":              {newLease("me").token(111 * ms), 110 * ms},
		"a number that overflows":     {attempt.Token("me@99999999999999999999"), 110 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLease("me")
			l.renew(c.token, 50*ms, c.now)
			if l.held(c.now) {
				t.Error("held")
			}
		})
	}
}

func TestACallIsCoveredOnlyWhileItsTokenCouldRenewTheLease(t *testing.T) {
	l := newLease("me")
	old := l.token(0)
	l.renew(l.token(90*ms), 50*ms, 90*ms)
	for name, c := range map[string]struct {
		token attempt.Token
		now   time.Duration
		want  bool
	}{
		"fresh":                      {l.token(95 * ms), 100 * ms, true},
		"abandoned by its sender":    {old, 100 * ms, false},
		"fresh, but after the lease": {l.token(139 * ms), 140 * ms, false},
		"another supervisor's":       {newLease("you").token(95 * ms), 100 * ms, false},
		"the youngest expired token": {l.token(50 * ms), 100 * ms, false},
		"the oldest valid token":     {l.token(51 * ms), 100 * ms, true},
	} {
		if got := l.covers(c.token, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
