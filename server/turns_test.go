package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestOneCallAtATimeIsAboutAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		done, err := all.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := all.take(t.Context(), "b") // of another job: at once
		if err != nil {
			t.Fatal(err)
		}
		other()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := all.take(impatient, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("another turn at the same time: %v", err)
		}
		order := make(chan string, 2)
		go func() {
			next, _ := all.take(t.Context(), "a")
			order <- "next"
			next()
		}()
		synctest.Wait()
		order <- "first"
		done()
		if a, b := <-order, <-order; a != "first" || b != "next" {
			t.Errorf("%s, then %s", a, b)
		}
		if synctest.Wait(); len(all.taken) != 0 {
			t.Errorf("left over: %v", all.taken)
		}
	})
}

// A client that has heard nothing sends its submission again while the first call may
// still undo what it has kept: the second one waits until that is over.
func TestASubmissionThatKeepsDataIsNotMixedWithItself(t *testing.T) {
	s := start(t, configured(t, ""))
	d := s.put(t, "content", persistentMode)
	id, kept := newID(t), newID(t)
	submit := &droverv1.SubmitRequest{JobId: id, Request: keeps(handle(d.GetId()), "from", kept, persistentMode)}
	done, err := s.using.take(within(t), batch.JobID(id))
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithTimeout(within(t), 50*time.Millisecond)
	defer cancel()
	if _, err := s.client.Submit(impatient, submit); connect.CodeOf(err) != connect.CodeDeadlineExceeded || s.has(t, kept) {
		t.Errorf("in another call's turn: %v, kept: %v", err, s.has(t, kept))
	}
	done()
	if _, err := s.client.Submit(within(t), submit); err != nil || !s.has(t, kept) {
		t.Errorf("in its own: %v, kept: %v", err, s.has(t, kept))
	}
}
