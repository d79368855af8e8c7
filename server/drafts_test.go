package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// open begins a draft and gives it back for a lease.
func (ds *drafts) open(t *testing.T, round string, lease time.Duration) {
	t.Helper()
	d, err := ds.begin(round)
	if err != nil {
		t.Fatal(err)
	}
	d.core = &site.Draft{}
	ds.done(d, lease)
}

// there says whether a round has a draft, and begins its lease anew.
func (ds *drafts) there(t *testing.T, round string, lease time.Duration) bool {
	t.Helper()
	d, err := ds.take(context.Background(), round)
	if err != nil {
		told(t, err, problem.UnknownRound)
		return false
	}
	ds.done(d, lease)
	return true
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}

func told(t *testing.T, err error, reason problem.Reason) {
	t.Helper()
	if p := problemOf(err); p == nil || p.Reason != reason {
		t.Errorf("%v, want %s", err, reason)
	}
}

func TestADraftIsKeptForItsLeaseAfterTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(4)
		ds.open(t, "r", time.Minute)
		for range 3 {
			pass(59 * time.Second)
			if !ds.there(t, "r", time.Minute) {
				t.Fatal("gone before its time")
			}
		}
		if !ds.there(t, "r", time.Second) { // each call says its lease
			t.Fatal("gone")
		}
		pass(time.Second)
		if len(ds.all) != 0 || ds.there(t, "r", time.Minute) {
			t.Error("kept for ever")
		}
	})
}

func TestADraftThatIsWorkedOnOutlivesItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(1)
		ds.open(t, "r", time.Minute)
		d, err := ds.take(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		// Whoever comes meanwhile waits, as long as he likes.
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ds.take(short, "r"); err == nil {
			t.Error("two at a time")
		}
		next := make(chan error)
		go func() {
			d, err := ds.take(context.Background(), "r")
			if err == nil {
				pass(time.Hour)
				ds.done(d, time.Second)
			}
			next <- err
		}()
		synctest.Wait()
		ds.done(d, time.Second)
		if err := <-next; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		pass(time.Second)
		if ds.there(t, "r", time.Second) {
			t.Error("its last lease does not end")
		}
	})
}

func TestThereAreOnlySoManyDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(2)
		ds.open(t, "a", time.Minute)
		ds.open(t, "b", time.Hour)
		_, err := ds.begin("c")
		told(t, err, problem.TooManyDrafts)
		ds.open(t, "b", time.Hour) // anew, in its own place
		pass(time.Minute)
		ds.open(t, "c", time.Hour)
		if d, err := ds.take(t.Context(), "b"); err != nil {
			t.Error(err)
		} else {
			ds.done(d, 0) // ended
		}
		ds.open(t, "d", time.Hour)
		none := newDrafts(0)
		_, err = none.begin("a")
		told(t, err, problem.NoDrafts)
		ds.close()
		_, err = ds.begin("e")
		told(t, err, problem.Stopping)
		if len(ds.all) != 0 {
			t.Error("kept for nobody")
		}
	})
}

func TestADraftThatIsBegunAnewDoesNotEndWithTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(1)
		ds.open(t, "r", time.Minute)
		old, err := ds.take(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		ds.open(t, "r", time.Hour)
		ds.done(old, 0)
		pass(time.Minute)
		if !ds.there(t, "r", time.Minute) {
			t.Error("the new one is gone")
		}
		// Nor does one that could not be made leave anything behind.
		failed, err := ds.begin("r")
		if err != nil {
			t.Fatal(err)
		}
		waiter := make(chan error)
		go func() {
			_, err := ds.take(context.Background(), "r")
			waiter <- err
		}()
		synctest.Wait()
		ds.done(failed, 0)
		told(t, <-waiter, problem.UnknownRound)
		if len(ds.all) != 0 {
			t.Error("something is left")
		}
	})
}
