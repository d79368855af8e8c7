package pool

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhoStartsCanWaitUntilItIsToldWhichNodesAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		a.cutOff(true)
		begun := time.Now()
		p := open(t, a, b)
		var n news
		p.Follow(n.changed)
		p.Asked(t.Context())
		if took := time.Since(begun); took > DefaultLease/6 {
			t.Errorf("asked after %v", took)
		}
		if diff := cmp.Diff([]string{"0 down"}, n.told()); diff != "" {
			t.Error(diff)
		}
	})
}

// It was asked while nobody followed.
func TestWhatIsKnownWhenSomebodyFollowsIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		a.cutOff(true)
		p := open(t, a)
		after(6 * time.Second) // the second question is under way
		begin := time.Now()
		var n news
		p.Follow(n.changed)
		p.Asked(t.Context())
		if diff := cmp.Diff([]string{"0 down"}, n.told()); diff != "" || time.Since(begin) > 0 {
			t.Errorf("after %v: %s", time.Since(begin), diff)
		}
	})
}
