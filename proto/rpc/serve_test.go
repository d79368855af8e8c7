package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/protobuf/encoding/protojson"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

var errPrivate = errors.New("private: the process knows what this means")

// outcomes are what a handler can do, by job ID.
func outcome(id string) error {
	switch id {
	case "panic":
		panic("handler panics")
	case "defect":
		return &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission}
	case "own":
		return fmt.Errorf("wrapped: %w", errPrivate)
	case "problem":
		return fmt.Errorf("wrapped: %w", problem.New(problem.QueueFull, "queue is full"))
	case "end":
		return context.DeadlineExceeded
	case "connect":
		return connect.NewError(connect.CodePermissionDenied, errors.New("not yours"))
	}
	return nil
}

type failing struct {
	droverv1connect.UnimplementedServerServiceHandler
}

func (failing) GetJob(_ context.Context, req *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	return &droverv1.GetJobResponse{}, outcome(req.GetJobId())
}

func (failing) WatchJob(
	_ context.Context, req *droverv1.WatchJobRequest, _ *connect.ServerStream[droverv1.WatchJobResponse],
) error {
	return outcome(req.GetJobId())
}

// locked is a buffer that several goroutines use.
type locked struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

func (l *locked) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.Reset()
	return l.String()
}

// serve starts a server of the failing service and of a route for each outcome.
func serve(t *testing.T) (url string, caller *rpc.Caller, log *locked) {
	log = &locked{}
	server, _ := rpc.Serve(rpc.Config{
		Name: "test process",
		Services: []rpc.Service{
			rpc.Handle[droverv1connect.ServerServiceHandler](droverv1connect.NewServerServiceHandler, failing{}),
		},
		Routes: []rpc.Route{
			{Pattern: "GET /jobs/{id}", Handler: func(w http.ResponseWriter, r *http.Request) error {
				if err := outcome(r.PathValue("id")); err != nil {
					return err
				}
				_, err := io.WriteString(w, "whole")
				return err
			}},
			{Pattern: "GET /elsewhere", Handler: func(http.ResponseWriter, *http.Request) error {
				return rpc.WithStatus(http.StatusMisdirectedRequest, problem.New(problem.UnknownJob, "it has moved"))
			}},
			{Pattern: "GET /halves/{id}", Handler: func(w http.ResponseWriter, r *http.Request) error {
				w.Header().Set("Content-Length", "10")
				if _, err := io.WriteString(w, "half"); err != nil {
					return err
				}
				return outcome(r.PathValue("id"))
			}},
		},
		Problem: func(err error) *problem.Problem {
			if errors.Is(err, errPrivate) {
				return problem.New(problem.NoEstimate, "an error of the process")
			}
			return nil
		},
		Log: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug}),
	})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) })
	caller = rpc.NewCaller(rpc.CallerConfig{})
	t.Cleanup(func() {
		caller.Close()
		_ = server.Close()
		served.Wait()
	})
	return "http://" + l.Addr().String(), caller, log
}

func TestServeAnswersErrorsOfUnaryCallsStreamsAndRoutesAlike(t *testing.T) {
	url, caller, log := serve(t)
	client := rpc.Client(caller, droverv1connect.NewServerServiceClient, url)
	for _, tc := range []struct {
		outcome string
		reason  problem.Reason
		logged  []string // errors, beside the call itself
	}{
		{"panic", problem.Internal, []string{"[ERROR] panic", "handler panics", "outcome"}},
		{"defect", problem.Internal, []string{"[ERROR] call failed", "/secret"}},
		{"own", problem.NoEstimate, nil},
		{"problem", problem.QueueFull, nil},
		{"end", problem.Timeout, nil},
	} {
		calls := map[string]func() (*droverv1.ErrorDetail, string){
			"/drover.v1.ServerService/GetJob": func() (*droverv1.ErrorDetail, string) {
				_, err := client.GetJob(t.Context(), &droverv1.GetJobRequest{JobId: tc.outcome})
				return detailOf(t, err), err.Error()
			},
			"/drover.v1.ServerService/WatchJob": func() (*droverv1.ErrorDetail, string) {
				stream, err := client.WatchJob(t.Context(), &droverv1.WatchJobRequest{JobId: tc.outcome})
				if err != nil {
					t.Fatal(err)
				}
				for stream.Receive() {
				}
				_ = stream.Close()
				return detailOf(t, stream.Err()), stream.Err().Error()
			},
			"/jobs/" + tc.outcome: func() (*droverv1.ErrorDetail, string) {
				status, text := get(t, caller, url+"/jobs/"+tc.outcome)
				if want := rpc.Status(tc.reason); status != want {
					t.Errorf("%s over HTTP: status %d, want %d", tc.outcome, status, want)
				}
				return detailInJSON(t, text), text
			},
		}
		for procedure, call := range calls {
			d, text := call()
			if d.GetReason() != string(tc.reason) {
				t.Errorf("%s of %s: detail %v, want reason %s", tc.outcome, procedure, d, tc.reason)
			}
			if strings.Contains(text+d.String(), "secret") || strings.Contains(text+d.String(), "panics") {
				t.Errorf("%s of %s: the caller sees private text: %s, %v", tc.outcome, procedure, text, d)
			}
			logged := log.take()
			for _, want := range append(tc.logged, procedure, "duration=") {
				if !strings.Contains(logged, want) {
					t.Errorf("%s of %s: the log lacks %q:\n%s", tc.outcome, procedure, want, logged)
				}
			}
			if len(tc.logged) == 0 && strings.Contains(logged, "ERROR") {
				t.Errorf("%s of %s: logged as a defect:\n%s", tc.outcome, procedure, logged)
			}
		}
	}
}

func TestServeKeepsErrorsOfConnect(t *testing.T) {
	url, caller, _ := serve(t)
	_, err := rpc.Client(caller, droverv1connect.NewServerServiceClient, url).GetJob(t.Context(),
		&droverv1.GetJobRequest{JobId: "connect"})
	if connect.CodeOf(err) != connect.CodePermissionDenied || !strings.Contains(err.Error(), "not yours") {
		t.Errorf("error %v", err)
	}
}

func TestARouteAnswersWithItsOwnStatus(t *testing.T) {
	url, caller, _ := serve(t)
	if status, text := get(t, caller, url+"/elsewhere"); status != http.StatusMisdirectedRequest ||
		detailInJSON(t, text).GetReason() != "unknown-job" {
		t.Errorf("status %d, %s", status, text)
	}
	if status, text := get(t, caller, url+"/jobs/fine"); status != http.StatusOK || text != "whole" {
		t.Errorf("status %d, %s", status, text)
	}
}

func TestARouteThatFailsHalfwayBreaksTheConnection(t *testing.T) {
	url, caller, _ := serve(t)
	for _, outcome := range []string{"defect", "panic"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/halves/"+outcome, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := caller.Files().Do(req)
		if err != nil {
			continue // nothing had left the server's buffer
		}
		if text, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("%s: status %d and %q, want a broken answer", outcome, res.StatusCode, text)
		}
		_ = res.Body.Close()
	}
}

func get(t *testing.T, caller *rpc.Caller, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := caller.Files().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func detailOf(t *testing.T, err error) *droverv1.ErrorDetail {
	t.Helper()
	e, ok := errors.AsType[*connect.Error](err)
	if !ok || len(e.Details()) != 1 {
		t.Fatalf("error %v: want one detail", err)
	}
	v, err := e.Details()[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	return v.(*droverv1.ErrorDetail)
}

func detailInJSON(t *testing.T, text string) *droverv1.ErrorDetail {
	t.Helper()
	var d droverv1.ErrorDetail
	if err := protojson.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &d
}
