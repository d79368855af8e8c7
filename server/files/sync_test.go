package files

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallersShareTheSyncThatStartsAfterThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncs
		var runs, written, durable atomic.Int64
		sync1 := func() error {
			runs.Add(1)
			seen := written.Load()
			<-time.After(10 * time.Millisecond)
			durable.Store(seen)
			return nil
		}
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				<-time.After(time.Duration(i) * time.Millisecond)
				mine := written.Add(1)
				if err := s.share(sync1); err != nil {
					t.Error(err)
				}
				if durable.Load() < mine {
					t.Errorf("write %d was promised, %d are durable", mine, durable.Load())
				}
			})
		}
		wg.Wait()
		if n := runs.Load(); n > 12 {
			t.Errorf("%d syncs of 10 ms within 110 ms", n)
		}
	})
}

func TestASyncFailsForEveryCallerThatSharesIt(t *testing.T) {
	var s syncs
	bad := errors.New("bad")
	if err := s.share(func() error { return bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if err := s.share(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
