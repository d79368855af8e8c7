package client

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

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"connectrpc.com/connect"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// fakeGrid is a grid of fakes whose jobs are done at once. It is called in a bubble.
func fakeGrid(t *testing.T) (*world, *Grid) {
	w, c := newWorld(t, patient(10*time.Second))
	w.agent.service = &droverv1.Service{Name: "lu", Arguments: []*droverv1.Argument{
		{Name: "x", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT},
		{Name: "y", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT},
	}}
	for _, s := range []*fakeServer{w.a, w.b} {
		s.job = &droverv1.Job{Id: id}
		s.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			return states(nil, s.last(droverv1.JobState_JOB_STATE_DONE))(ctx, stream)
		}
	}
	g := NewGrid(c)
	t.Cleanup(func() { _ = g.Finalize() })
	return w, g
}

// last is the job that was submitted last, in a state.
func (f *fakeServer) last(state droverv1.JobState) *droverv1.Job {
	list := f.sent()
	return &droverv1.Job{Id: list[len(list)-1].GetJobId(), Site: f.name, State: state}
}

func TestACallThatNobodyAnswersHasFailedInCommunication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		h := g.handle(t, "lu")
		w.a.submit = stuck
		e := codeError(t, "a submission", h.Call(t.Context()), CommunicationFailed)
		if unknown, ok := errors.AsType[*submission.UnknownError](e); !ok || unknown.Job == "" {
			t.Errorf("%v", e)
		}
		w.cut("a")
		_, err := g.HandleAt(t.Context(), "a", "lu")
		wantCode(t, "no server for a bound handle", err, CommunicationFailed)
		w.cut("agent")
		wantCode(t, "no agent", h.Call(t.Context()), CommunicationFailed)
		_, err = g.Handle(t.Context(), "lu")
		wantCode(t, "no agent for a handle", err, CommunicationFailed)
		_, err = g.HandleAt(t.Context(), "a", "lu")
		wantCode(t, "no agent for a bound one", err, CommunicationFailed)
	})
}

func TestASessionWhoseSiteIsSilentCanBeWaitedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		s := g.handle(t, "lu").async(t)
		was := w.cut("a")
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
		w.up("a", was)
		wantCode(t, "wait again", g.WaitAll(t.Context()), NoError)
		wantCode(t, "how it stands now", s.Err(), NoError)
	})
}

func TestOneOfTwoWaitersThatGivesUpLeavesTheSessionToTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		end := make(chan struct{})
		var watches atomic.Int32
		w.a.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			watches.Add(1)
			if err := states(nil, w.a.last(droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream); err != nil {
				return err
			}
			select {
			case <-end:
				return states(nil, w.a.last(droverv1.JobState_JOB_STATE_DONE))(ctx, stream)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		s := g.handle(t, "lu").async(t)
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
func TestMoreSessionsThanAConnectionHasStreamsAreWaitedForAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 600
		w, g := fakeGrid(t)
		h := g.handle(t, "lu")
		end := make(chan struct{})
		var watched atomic.Int32
		w.a.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			if err := states(nil, w.a.last(droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream); err != nil {
				return err
			}
			watched.Add(1)
			<-end
			return states(nil, w.a.last(droverv1.JobState_JOB_STATE_DONE))(ctx, stream)
		}
		for range many {
			h.async(t)
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

func TestWhatCouldNotBeWrittenIsBroughtByTheNextWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		var first atomic.Int32
		w.a.download = func(argument string, at int64, send func(string)) error {
			if argument == "x" {
				first.Add(1)
			}
			send("solution"[at:])
			return nil
		}
		dir := filepath.Join(t.TempDir(), "later")
		s := g.handle(t, "lu").async(t, new([]byte), filepath.Join(dir, "y"))
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

func TestAnOutputThatIsCutIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		const all = "the solution"
		digest := sha256.Sum256([]byte(all))
		w.a.job.Outputs = []*droverv1.Output{{Argument: "x", Sha256: hex.EncodeToString(digest[:])}}
		whole := false
		w.a.download = func(argument string, at int64, send func(string)) error {
			end := int64(len(all))
			if !whole {
				end = min(at+3, 6)
			}
			if at == end { // nothing comes any more
				return errCut
			}
			send(all[at:end])
			if whole {
				return nil
			}
			return errCut
		}
		var out strings.Builder
		s := g.handle(t, "lu").async(t, &out)
		wantCode(t, "cut", s.Wait(t.Context()), CommunicationFailed)
		whole = true
		wantCode(t, "whole", s.Wait(t.Context()), NoError)
		if out.String() != all {
			t.Errorf("written %q", out.String())
		}
	})
}

func TestASessionThatIsStartedAnewKeepsItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		w.a.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			return states(errCut, w.a.last(droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream)
		}
		s := g.handle(t, "lu").async(t, Idempotent(), Rerun(20*time.Second))
		first := s.ID()
		w.cut("a")
		w.agent.mu.Lock()
		w.agent.targets = w.agent.targets[1:]
		w.agent.mu.Unlock()
		w.b.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			err := states(nil, w.b.last(droverv1.JobState_JOB_STATE_RUNNING))(ctx, stream)
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		}
		hasty, hurry := context.WithTimeout(t.Context(), 30*time.Second)
		defer hurry()
		wantCode(t, "wait for a while", s.Wait(hasty), NotCompleted)
		synctest.Wait()
		done := w.b.last(droverv1.JobState_JOB_STATE_DONE)
		w.b.watch = states(nil, done)
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

func TestAnAnswerAboutAJobThatWasReplacedIsOldNews(t *testing.T) {
	s := &Session{job: &Job{ID: "second"}}
	s.replace("first", &Job{ID: "first", State: Done})
	if s.Job().ID != "second" {
		t.Errorf("the job is %s", s.Job().ID)
	}
	s.replace("second", &Job{ID: "second", State: Done})
	if s.Job().State != Done {
		t.Errorf("the job is %s", s.Job().State)
	}
}

func TestACallToOneSiteGoesNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		ctx := t.Context()
		submit := func(args ...Arg) error { _, err := g.Client().Submit(ctx, "lu", args...); return err }
		wantCode(t, "to the second choice", coded(submit(AtSite("b")), nil), NoError)
		if len(w.b.sent()) != 1 || len(w.a.sent()) != 0 || w.b.sent()[0].GetDecision() != nil {
			t.Fatalf("%d at a, %v at b", len(w.a.sent()), w.b.sent())
		}
		if !slices.ContainsFunc(w.agent.mapped, func(m *droverv1.MapRequest) bool { return m.GetNegotiate() }) {
			t.Error("the agent was to tell of a choice, not of what the sites say")
		}
		w.b.submit = full
		wantCode(t, "to a full one", coded(submit(AtSite("b")), nil), RPCRefused)
		w.b.submit = nil
		w.cut("b")
		wantCode(t, "to one that is down", coded(submit(AtSite("b")), nil), CommunicationFailed)
		began := time.Now()
		wantCode(t, "to one that nobody names", coded(submit(AtSite("c")), nil), CommunicationFailed)
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("gave up after %v", took)
		}
		if len(w.a.sent()) > 0 {
			t.Error("one went to a")
		}
	})
}

func TestTheRefusalOfTheOneSiteIsTold(t *testing.T) {
	m := ranking{
		Targets: []target{{Site: "a"}},
		Decision: &Decision{Candidates: []Candidate{{
			Site: "b", Missing: &Missing{Reason: "refused", Detail: &problem.Problem{Reason: problem.TooWide, Message: "9"}},
		}}},
	}
	_, err := m.only(&request{site: "b"})
	if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != "too-wide" || submission.FailureOf(err).Kind != submission.Refused {
		t.Errorf("%#v", err)
	}
	if got, err := m.only(&request{}); err != nil || len(got.Targets) != 1 || got.Decision == nil {
		t.Errorf("of a request for any site: %+v, %v", got, err)
	}
}

func TestAGridForgetsSessionsThatEndedLongAgo(t *testing.T) {
	g := NewGrid(&Client{})
	for i := range mostSettled + 10 {
		s := &Session{id: SessionID(rune(i)), ended: true, err: &CodeError{Code: SessionFailed}}
		g.opened(s)
		if !g.told(s) || g.told(s) {
			t.Fatal("the end is told once")
		}
	}
	if l := &g.list; len(l.byID) != mostSettled || len(l.settled) != mostSettled || len(l.failed) != mostSettled || len(l.open) != 0 {
		t.Errorf("%d by ID, %d settled, %d failed, %d open", len(l.byID), len(l.settled), len(l.failed), len(l.open))
	}
}

// However often a file is brought, and wherever that is cut, it is written once.
func TestOnwardWritesEveryByteOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "all")
		var out strings.Builder
		o := &onward{w: &out}
		for _, cut := range append(rapid.SliceOfN(rapid.IntRange(0, len(all)), 0, 5).Draw(t, "cuts"), len(all)) {
			o.at = 0
			for at := 0; at < cut; {
				end := min(cut, at+rapid.IntRange(1, 50).Draw(t, "piece"))
				if n, err := o.Write(all[at:end]); n != end-at || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, end-at, err)
				}
				at = end
			}
		}
		if out.String() != string(all) {
			t.Errorf("%q, want %q", out.String(), all)
		}
	})
}
