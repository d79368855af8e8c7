package gridrpc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/clienttest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// written returns the path of a file with this content.
func written(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInitializeReadsAFileTheEnvironmentOrAList(t *testing.T) {
	t.Setenv(client.EnvironmentAgents, "http://env:1")
	t.Setenv(client.EnvironmentConfig, "")
	t.Setenv("USER", "gopher")
	for name, tc := range map[string]struct {
		initialize func() (*Grid, error)
		agent      string
		owner      string
	}{
		"file": {func() (*Grid, error) {
			return Initialize(written(t, "version: 1\nagents: [http://a:1]\nowner: ada\n"))
		}, "http://a:1", "ada"},
		"environment": {func() (*Grid, error) { return Initialize("") }, "http://env:1", "gopher"},
		"list": {
			func() (*Grid, error) { return InitializeAgents([]string{"http://list:1"}) }, "http://list:1", "gopher",
		},
	} {
		g, err := tc.initialize()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if cfg := g.Client().Config(); cfg.Agents[0] != tc.agent || cfg.Owner != tc.owner {
			t.Errorf("%s: %+v", name, cfg)
		}
		wantCode(t, "finalize", g.Finalize(), NoError)
	}
	_, err := Initialize("/nowhere/client.yaml")
	wantCode(t, "no file", err, ConfigfileNotFound)
	_, err = Initialize(written(t, "version: 1\n"))
	wantCode(t, "a wrong file", err, ConfigfileError)
	_, err = InitializeAgents(nil)
	wantCode(t, "no agents", err, ConfigfileError)
	t.Setenv(client.EnvironmentAgents, "nonsense")
	_, err = Initialize("")
	wantCode(t, "a wrong environment", err, ConfigfileError)
}

// everything calls each function of a grid that needs one.
func everything(ctx context.Context, g *Grid, h *Handle, s *Session) map[string]error {
	errs := make(map[string]error)
	_, errs["Handle"] = g.Handle(ctx, "lu")
	_, errs["HandleAt"] = g.HandleAt(ctx, "a", "lu")
	_, errs["HandleOf"] = g.HandleOf(s)
	_, errs["Session"] = g.Session(id)
	_, errs["FailedSession"] = g.FailedSession()
	_, errs["ProbeOr"] = g.ProbeOr(ctx, s)
	errs["WaitAnd"] = g.WaitAnd(ctx, s)
	errs["WaitAll"] = g.WaitAll(ctx)
	_, errs["WaitOr"] = g.WaitOr(ctx, s)
	_, errs["WaitAny"] = g.WaitAny(ctx)
	errs["CancelAll"] = g.CancelAll(ctx)
	errs["Finalize"] = g.Finalize()
	if h != nil {
		errs["Call"] = h.Call(ctx)
		_, errs["CallAsync"] = h.CallAsync(ctx)
		errs["CallStack"] = h.CallStack(ctx, nil)
		_, errs["CallStackAsync"] = h.CallStackAsync(ctx, nil)
		errs["Wait"] = s.Wait(ctx)
		errs["Probe"] = s.Probe(ctx)
		errs["Cancel"] = s.Cancel(ctx)
	}
	return errs
}

func TestEveryFunctionNeedsAnInitializedGrid(t *testing.T) {
	for name, g := range map[string]*Grid{"no grid": nil, "the zero grid": {}} {
		for what, err := range everything(t.Context(), g, nil, nil) {
			wantCode(t, name+": "+what, err, NotInitialized)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		_, g := fakeGrid(t)
		h := handleOf(t, g, "lu")
		s := async(t, h)
		wantCode(t, "finalize", g.Finalize(), NoError)
		for what, err := range everything(t.Context(), g, h, s) {
			wantCode(t, "finalized: "+what, err, NotInitialized)
		}
		wantCode(t, "what was known of a session is", s.Err(), NotCompleted)
	})
}

func TestFinalizeWaitsForTheCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, g := fakeGrid(t)
		h := handleOf(t, g, "lu")
		seen, proceed := make(chan struct{}), make(chan struct{})
		called, finalized := make(chan error, 1), make(chan error, 1)
		go func() {
			called <- h.Call(t.Context(), client.Notify(func(*client.Job) {
				select {
				case <-seen:
				default:
					close(seen)
					<-proceed
				}
			}))
		}()
		<-seen
		go func() { finalized <- g.Finalize() }()
		synctest.Wait()
		select {
		case err := <-finalized:
			t.Errorf("finalized while a call is under way (%v)", err)
			finalized <- err
		default:
		}
		close(proceed)
		wantCode(t, "finalize", <-finalized, NoError)
		if CodeOf(<-called) != NotInitialized {
			t.Error("the call continued")
		}
	})
}

func TestFinalizeEndsTheCallsUnderWayAndLeavesTheJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := fakeGrid(t)
		w.A.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			running := last(w.A, droverv1.JobState_JOB_STATE_RUNNING)
			err := stream.Send(&droverv1.WatchJobResponse{Job: running})
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		}
		h := handleOf(t, g, "lu")
		s := async(t, h)
		results := make(chan error, 3)
		go func() { results <- s.Wait(t.Context()) }()
		go func() { _, err := g.WaitAny(t.Context()); results <- err }()
		synctest.Wait()
		w.A.OnSubmit = clienttest.Stuck
		go func() { results <- h.Call(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		wantCode(t, "finalize", g.Finalize(), NoError)
		for range cap(results) {
			if err := <-results; CodeOf(err) != NotInitialized {
				t.Errorf("a call under way: %v", err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("took %v", took)
		}
		if len(w.A.Cancels) > 0 {
			t.Errorf("cancelled %v", w.A.Cancels)
		}
	})
}
