package gridrpc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// fakeGrid is a grid of fakes that finish jobs at once. It is called in a bubble.
func fakeGrid(t *testing.T) (*clienttest.World, *Grid) {
	w, c := newWorld(t, patient(10*time.Second))
	w.Agent.Service = &droverv1.Service{Name: "lu", Arguments: []*droverv1.Argument{
		{Name: "x", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT},
		{Name: "y", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT},
	}}
	for _, s := range []*clienttest.Server{w.A, w.B} {
		s.Job = &droverv1.Job{Id: id}
		s.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			return clienttest.States(nil, last(s, droverv1.JobState_JOB_STATE_DONE))(ctx, stream)
		}
	}
	g := NewGrid(c)
	t.Cleanup(func() { _ = g.Finalize() })
	return w, g
}

// last is the job that was submitted last, in a state.
func last(f *clienttest.Server, state droverv1.JobState) *droverv1.Job {
	list := f.Sent()
	return &droverv1.Job{Id: list[len(list)-1].GetJobId(), Site: f.Name, State: state}
}

func TestACallWithoutAnAnswerIsACommunicationFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		h := handleOf(t, g, "lu")
		w.A.OnSubmit = clienttest.Stuck
		e := codeError(t, "a submission", h.Call(t.Context()), CommunicationFailed)
		if unknown, ok := errors.AsType[*submission.UnknownError](e); !ok || unknown.Job == "" {
			t.Errorf("%v", e)
		}
		w.Cut("a")
		_, err := g.HandleAt(t.Context(), "a", "lu")
		wantCode(t, "no server for a bound handle", err, CommunicationFailed)
		w.Cut("agent")
		wantCode(t, "no agent", h.Call(t.Context()), CommunicationFailed)
		_, err = g.Handle(t.Context(), "lu")
		wantCode(t, "no agent for a handle", err, CommunicationFailed)
		_, err = g.HandleAt(t.Context(), "a", "lu")
		wantCode(t, "no agent for a bound one", err, CommunicationFailed)
	})
}

func TestASessionOfASilentSiteCanBeWaitedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		s := async(t, handleOf(t, g, "lu"))
		was := w.Cut("a")
		e := codeError(t, "wait", s.Wait(t.Context()), CommunicationFailed)
		if e.Session != s {
			t.Errorf("about %p, want %p", e.Session, s)
		}
		wantCode(t, "probe", s.Probe(t.Context()), CommunicationFailed)
		_, err := g.ProbeOr(t.Context(), s)
		wantCode(t, "probe of a list", err, CommunicationFailed)
		wantCode(t, "cancel", g.CancelAll(t.Context()), CommunicationFailed)
		wantCode(t, "how it stands", s.Err(), NotCompleted)
		if got, err := g.WaitAny(t.Context()); got != nil || CodeOf(err) != CommunicationFailed {
			t.Errorf("%v, %v", got, err)
		}
		w.Up("a", was)
		wantCode(t, "wait again", g.WaitAll(t.Context()), NoError)
		wantCode(t, "how it stands now", s.Err(), NoError)
	})
}

func TestAWaitContinuesWhenAnotherOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		end := make(chan struct{})
		var watches atomic.Int32
		w.A.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			watches.Add(1)
			if err := clienttest.States(nil, last(w.A, droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream); err != nil {
				return err
			}
			select {
			case <-end:
				return clienttest.States(nil, last(w.A, droverv1.JobState_JOB_STATE_DONE))(ctx, stream)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		s := async(t, handleOf(t, g, "lu"))
		hasty, hurry := context.WithTimeout(t.Context(), time.Second)
		defer hurry()
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- s.Wait(hasty) }()
		synctest.Wait()
		go func() { second <- s.Wait(t.Context()) }()
		synctest.Wait()
		if n := watches.Load(); n != 1 {
			t.Errorf("%d watch the job, want one", n)
		}
		wantCode(t, "the hasty one", <-first, NotCompleted)
		synctest.Wait()
		close(end)
		wantCode(t, "the other", <-second, NoError)
		if n := watches.Load(); n != 2 {
			t.Errorf("watched %d times, want 2", n)
		}
	})
}

// A connection has room for 250 streams at a time, and each session that is waited
// for is one.
func TestMoreSessionsThanStreamsAreWaitedForConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 600
		w, g := fakeGrid(t)
		h := handleOf(t, g, "lu")
		end := make(chan struct{})
		var watched atomic.Int32
		w.A.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			if err := clienttest.States(nil, last(w.A, droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream); err != nil {
				return err
			}
			watched.Add(1)
			<-end
			return clienttest.States(nil, last(w.A, droverv1.JobState_JOB_STATE_DONE))(ctx, stream)
		}
		for range many {
			async(t, h)
		}
		all := make(chan error, 1)
		go func() { all <- g.WaitAll(t.Context()) }()
		synctest.Wait()
		if n := watched.Load(); n != many {
			t.Errorf("%d of %d sessions are followed", n, many)
		}
		close(end)
		wantCode(t, "all of them", <-all, NoError)
		if left := g.outstanding(); len(left) > 0 {
			t.Errorf("%d are left", len(left))
		}
	})
}

func TestTheNextWaitFetchesAnOutputThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		var first atomic.Int32
		w.A.OnDownload = func(argument string, at int64, send func(string)) error {
			if argument == "x" {
				first.Add(1)
			}
			send("solution"[at:])
			return nil
		}
		dir := filepath.Join(t.TempDir(), "later")
		s := async(t, handleOf(t, g, "lu"), new([]byte), filepath.Join(dir, "y"))
		wantCode(t, "no directory", s.Wait(t.Context()), OtherErrorCode)
		wantCode(t, "how it stands", s.Err(), NotCompleted)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "with one", s.Wait(t.Context()), NoError)
		if got, err := os.ReadFile(filepath.Join(dir, "y")); string(got) != "solution" {
			t.Errorf("%q, %v", got, err)
		}
		if n := first.Load(); n != 1 {
			t.Errorf("what was there already was brought %d times", n)
		}
	})
}

func TestAResumedOutputIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		const all = "the solution"
		digest := sha256.Sum256([]byte(all))
		w.A.Job.Outputs = []*droverv1.Output{{Argument: "x", Sha256: hex.EncodeToString(digest[:])}}
		whole := false
		w.A.OnDownload = func(argument string, at int64, send func(string)) error {
			end := int64(len(all))
			if !whole {
				end = min(at+3, 6)
			}
			if at == end { // nothing comes any more
				return clienttest.ErrCut
			}
			send(all[at:end])
			if whole {
				return nil
			}
			return clienttest.ErrCut
		}
		var out strings.Builder
		s := async(t, handleOf(t, g, "lu"), &out)
		wantCode(t, "cut", s.Wait(t.Context()), CommunicationFailed)
		whole = true
		wantCode(t, "whole", s.Wait(t.Context()), NoError)
		if out.String() != all {
			t.Errorf("written %q", out.String())
		}
	})
}

func TestASessionKeepsItsIDInANewAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		w.A.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			return clienttest.States(clienttest.ErrCut, last(w.A, droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream)
		}
		s := async(t, handleOf(t, g, "lu"), client.Idempotent(), client.Rerun(20*time.Second))
		first := s.ID()
		w.Cut("a")
		w.Agent.Mu.Lock()
		w.Agent.Targets = w.Agent.Targets[1:]
		w.Agent.Mu.Unlock()
		w.B.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			err := clienttest.States(nil, last(w.B, droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream)
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		}
		hasty, hurry := context.WithTimeout(t.Context(), 30*time.Second)
		defer hurry()
		wantCode(t, "wait for a while", s.Wait(hasty), NotCompleted)
		synctest.Wait()
		done := last(w.B, droverv1.JobState_JOB_STATE_DONE)
		w.B.OnWatch = clienttest.States(nil, done)
		began := time.Now()
		wantCode(t, "wait", s.Wait(t.Context()), NoError)
		if took := time.Since(began); took > time.Second || s.Job().ID != done.GetId() {
			t.Errorf("took %v, ended as %s in place of %s", took, s.Job().ID, done.GetId())
		}
		if got := s.Job(); s.ID() != first || got.Site != "b" {
			t.Errorf("session %s (was %s) at %s", s.ID(), first, got.Site)
		}
		if found, err := g.Session(first); found != s || err != nil {
			t.Errorf("by its ID: %v, %v", found, err)
		}
	})
}

func TestABoundCallGoesToItsSiteOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		ctx := t.Context()
		submit := func(args ...client.Arg) error { _, err := g.Client().Submit(ctx, "lu", args...); return err }
		wantCode(t, "to the second choice", coded(submit(client.AtSite("b")), nil), NoError)
		if len(w.B.Sent()) != 1 || len(w.A.Sent()) != 0 || w.B.Sent()[0].GetDecision() != nil {
			t.Fatalf("%d at a, %v at b", len(w.A.Sent()), w.B.Sent())
		}
		if !slices.ContainsFunc(w.Agent.Mapped, func(m *droverv1.MapRequest) bool { return m.GetNegotiate() }) {
			t.Error("the agent was to tell of a choice, not of what the sites say")
		}
		w.B.OnSubmit = clienttest.Full
		wantCode(t, "to a full one", coded(submit(client.AtSite("b")), nil), RPCRefused)
		w.B.OnSubmit = nil
		w.Cut("b")
		wantCode(t, "to one that is down", coded(submit(client.AtSite("b")), nil), CommunicationFailed)
		began := time.Now()
		wantCode(t, "to an unknown site", coded(submit(client.AtSite("c")), nil), CommunicationFailed)
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("gave up after %v", took)
		}
		if len(w.A.Sent()) > 0 {
			t.Error("one went to a")
		}
	})
}

func TestAGridForgetsOldSessions(t *testing.T) {
	g := NewGrid(&client.Client{})
	for i := range mostSettled + 10 {
		s := &Session{id: SessionID(rune(i)), ended: true, err: &CodeError{Code: SessionFailed}}
		g.opened(s)
		if !g.returned(s) || g.returned(s) {
			t.Fatal("a session is returned once")
		}
	}
	if l := &g.list; len(l.byID) != mostSettled || len(l.settled) != mostSettled || len(l.failed) != mostSettled ||
		len(l.open) != 0 {
		t.Errorf("%d by ID, %d settled, %d failed, %d open", len(l.byID), len(l.settled), len(l.failed), len(l.open))
	}
}

// However often a file is brought, and wherever that is cut, it is written once.
