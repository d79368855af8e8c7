package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

type asked struct {
	droverv1connect.UnimplementedServerServiceHandler
}

func (asked) GetJob(_ context.Context, req *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	return &droverv1.GetJobResponse{Job: &droverv1.Job{Id: req.GetJobId()}}, nil
}

func (asked) WatchJob(
	_ context.Context, req *droverv1.WatchJobRequest, stream *connect.ServerStream[droverv1.WatchJobResponse],
) error {
	return stream.Send(&droverv1.WatchJobResponse{Job: &droverv1.Job{Id: req.GetJobId()}})
}

// faced starts a face, and returns what posts a body to a method.
func faced(t testing.TB) func(method, kind, body string) (int, string) {
	server, _ := rpc.Serve(rpc.Config{
		Name: "test", Log: hclog.NewNullLogger(),
		Services: []rpc.Service{
			rpc.Handle[droverv1connect.ServerServiceHandler](droverv1connect.NewServerServiceHandler, asked{}),
		},
	})
	return func(method, kind, body string) (int, string) {
		req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/drover.v1.ServerService/"+method,
			strings.NewReader(body))
		req.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, req)
		text, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(text)
	}
}

// detail is the debug form of the detail in an error.
func detailIn(t *testing.T, body string) (code, reason, field, message string) {
	t.Helper()
	var e struct {
		Code    string
		Details []struct {
			Debug struct{ Reason, Field, Message, Accepted string }
		}
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil || len(e.Details) != 1 || e.Details[0].Debug.Accepted == "" {
		t.Fatalf("no detail: %q, %v", body, err)
	}
	return e.Code, e.Details[0].Debug.Reason, e.Details[0].Debug.Field, e.Details[0].Debug.Message
}

func TestAnInvalidMessageIsAProblemWithADetail(t *testing.T) {
	post := faced(t)
	for name, tc := range map[string]struct{ method, kind, body, field string }{
		"a misspelt field": {"GetJob", "application/json", `{"jobid": "x"}`, "jobid"},
		"one deep inside":  {"Submit", "application/json", `{"request": {"widht": 2}}`, "request.widht"},
		"one in a map": {
			"Submit", "application/json", `{"request": {"arguments": {"n": {"intvalue": 2}}}}`,
			"request.arguments.n.intvalue",
		},
		"one in a list": {
			"PlaceJobs", "application/json", `{"placements": [{}, {"job": 2}]}`, "placements[1].job",
		},
		"half of it":                {"GetJob", "application/json", `{"jobId": "x`, ""},
		"no JSON":                   {"GetJob", "application/json; charset=utf-8", `<xml/>`, ""},
		"an array":                  {"GetJob", "application/json", `[1]`, ""},
		"another type":              {"Submit", "application/json", `{"request": {"width": "wide"}}`, ""},
		"a field twice":             {"GetJob", "application/json", `{"jobId": "x", "job_id": "y"}`, ""},
		"a time span without units": {"Estimate", "application/json", `{"notBefore": "90"}`, ""},
		"damaged protobuf":          {"GetJob", "application/proto", "\x0a\xff", ""},
	} {
		status, body := post(tc.method, tc.kind, tc.body)
		code, reason, field, message := detailIn(t, body)
		if status != 400 || code != "invalid_argument" || reason != "bad-value" || field != tc.field || message == "" {
			t.Errorf("%s: %d %s", name, status, body)
		}
		for _, inside := range []string{"droverv1", "*", "proto:", "unmarshal"} {
			if strings.Contains(message, inside) {
				t.Errorf("%s: %q names internals", name, message)
			}
		}
	}
}

func TestAValidMessageIsAnswered(t *testing.T) {
	post := faced(t)
	for _, body := range []string{`{"jobId": "x"}`, `{"job_id": "x"}`, " {\"jobId\":\"x\"}\n"} {
		if status, answer := post("GetJob", "application/json", body); status != 200 ||
			strings.ReplaceAll(answer, " ", "") != `{"job":{"id":"x"}}` {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	// A newer program may know fields that this one does not.
	if status, answer := post("GetJob", "application/proto", "\x0a\x01x\xfa\x3f\x01y"); status != 200 ||
		!strings.Contains(answer, "x") {
		t.Errorf("an unknown field of the binary form: %d %q", status, answer)
	}
}

func TestAnInvalidMessageOfAStreamIsAProblem(t *testing.T) {
	post := faced(t)
	envelope := func(text string) string { return "\x00\x00\x00\x00" + string(rune(len(text))) + text }
	_, body := post("WatchJob", "application/connect+json", envelope(`{"job": "x"}`))
	_, end, _ := strings.Cut(body, "{")
	var e struct{ Error json.RawMessage }
	if err := json.NewDecoder(bytes.NewReader([]byte("{" + end))).Decode(&e); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	if code, reason, field, _ := detailIn(t, string(e.Error)); code != "invalid_argument" || reason != "bad-value" ||
		field != "job" {
		t.Errorf("%s", body)
	}
	if _, body := post("WatchJob", "application/connect+json", envelope(`{"jobId": "x"}`)); !strings.Contains(body,
		`"id"`) {
		t.Errorf("one that can be read: %q", body)
	}
}

func FuzzRequestsInJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"request":{"arguments":{"n":{"intValue":"1"}},"widht":1}}`, `[`, "\xff", `{"request":[{}]}`,
		`{"request":{"arguments":[1]}}`,
	} {
		f.Add(seed)
	}
	post := faced(f)
	f.Fuzz(func(t *testing.T, body string) {
		if status, answer := post("Submit", "application/json", body); status != 501 &&
			(status != 400 || !json.Valid([]byte(answer))) {
			t.Errorf("%q: %d %s", body, status, answer)
		}
	})
}
