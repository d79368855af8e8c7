package exec

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// instant is a launcher of programs that end at once.
type instant struct{}

func (instant) Launch(Spec) (Launched, error) {
	p := &fake{end: make(chan Exit, 1)}
	p.end <- Exit{}
	return p, nil
}

func TestWatchersGetEveryEndOnceInOrder(t *testing.T) {
	const jobs = 500
	s := open(t, Config{Launcher: instant{}})
	errs := make(chan error)
	for range 2 {
		go func() { errs <- followEnds(s, jobs) }()
	}
	for i := range jobs {
		do(t, s, submission(fmt.Sprint(i), int32(1+i%4), batch.Program{Args: []string{"x"}}))
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// followEnds watches until it has seen a number of ends. It fails the test if an attempt ends
// twice, returns to an earlier phase, or is twice in one answer.
func followEnds(s *System, jobs int) error {
	phases := map[batch.Key]batch.Phase{}
	var at batch.Cursor
	for ended := 0; ended < jobs; {
		got, err := s.Watch(context.Background(), at)
		if err != nil {
			return err
		}
		for _, f := range got.Jobs {
			if f.Phase <= phases[f.Key] {
				return fmt.Errorf("%s: phase %d after %d", f.Key.Job, f.Phase, phases[f.Key])
			}
			phases[f.Key] = f.Phase
			if f.Phase == batch.PhaseEnded {
				ended++
			}
		}
		if got.Next <= at {
			return fmt.Errorf("cursor %d after %d", got.Next, at)
		}
		at = got.Next
	}
	return nil
}

func TestWatchReturnsTheLatestChangesAndThenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s := open(t, Config{Launcher: l, Grace: 1})
		ctx := context.Background()
		do(t, s, submission("a", 1, batch.Program{Args: []string{"x"}}),
			submission("b", 4, batch.Program{Args: []string{"x"}}))
		synctest.Wait() // for the launch
		do(t, s, order(batch.CmdHold, "b"))
		first, err := s.Watch(ctx, 0)
		if err != nil || names(first.Jobs) != "a:running b:held" {
			t.Fatalf("first answer: %s, %v", names(first.Jobs), err)
		}
		short, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		if _, err := s.Watch(short, first.Next); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing changed, yet Watch returned %v", err)
		}
		got := make(chan batch.Changes)
		go func() {
			c, _ := s.Watch(ctx, first.Next)
			got <- c
		}()
		synctest.Wait()
		(<-l.launched).end <- Exit{}
		if c := <-got; names(c.Jobs) != "a:ended" {
			t.Errorf("second answer: %s", names(c.Jobs))
		}
	})
}

func TestWatchRefusesUnknownCursors(t *testing.T) {
	ctx := context.Background()
	s := open(t, Config{Launcher: instant{}, Retain: 2})
	var first batch.Cursor
	for i := range 4 {
		do(t, s, submission(fmt.Sprint(i), 1, batch.Program{Args: []string{"x"}}))
		await(t, s, fmt.Sprint(i), batch.PhaseEnded)
		if i == 0 {
			got, err := s.Watch(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			first = got.Next
		}
	}
	last, err := s.Watch(ctx, 0)
	if err != nil || names(last.Jobs) != "2:ended 3:ended" {
		t.Errorf("what is remembered: %s, %v", names(last.Jobs), err)
	}
	for _, at := range []batch.Cursor{first, last.Next + 1} {
		var refused *CursorError
		if _, err := s.Watch(ctx, at); !errors.As(err, &refused) || refused.Newest != last.Next {
			t.Errorf("cursor %d: %v", at, err)
		}
	}
	found, err := s.Find(ctx, []batch.Key{key("0"), key("3"), key("never"), key("2")})
	if err != nil || names(found) != "3:ended 2:ended" {
		t.Errorf("found %s, %v", names(found), err)
	}
	if n := len(s.handles); n > 3 {
		t.Errorf("%d handles for one job at a time", n)
	}
}

func TestSnapshotHasCapacityAndQueueOrder(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l, Grace: 1})
	for _, c := range []struct {
		name  string
		width int32
	}{{"a", 2}, {"b", 1}, {"c", 3}, {"gone", 1}, {"d", 1}} {
		do(t, s, submission(c.name, c.width, batch.Program{Args: []string{"x"}}))
	}
	do(t, s, order(batch.CmdCancel, "gone"), submission("e", 1, batch.Program{Args: []string{"x"}}))
	snap := snapshot(t, s)
	if got := names(snap.Running) + " / " + names(snap.Waiting); got != "a:running b:running / c:queued d:queued "+
		"e:queued" || snap.Free != 1 {
		t.Errorf("running / waiting: %s, free %d", got, snap.Free)
	}
	if diff := cmp.Diff(machine, snap.Platform); diff != "" {
		t.Error(diff)
	}
	if age := time.Since(snap.Taken); age < 0 || age > time.Minute {
		t.Errorf("taken %v ago", age)
	}
}
