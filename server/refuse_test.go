package server

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestInvalidRequestsAreRefusedWithDetails(t *testing.T) {
	s := start(t, configured(t, ""))
	unknown := &droverv1.File{Sha256: strings.Repeat("a", 64), SizeBytes: 5}
	known, err := s.upload(within(t), []byte("12345"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		request       *droverv1.Request
		code          connect.Code
		reason, field string
	}{
		"no request": {nil, connect.CodeInvalidArgument, "bad-value", "request"},
		"no service": {&droverv1.Request{}, connect.CodeInvalidArgument, "bad-value", "request.service"},
		"unknown service": {
			&droverv1.Request{Service: "odd"}, connect.CodeNotFound, "unknown-service", "request.service",
		},
		"unknown argument": {
			&droverv1.Request{Service: "print", Arguments: arguments{"odd": number(1)}},
			connect.CodeInvalidArgument, "unknown-argument", "request.arguments.odd",
		},
		"missing argument": {
			&droverv1.Request{Service: "copy"}, connect.CodeInvalidArgument, "missing-argument",
			"request.arguments.from",
		},
		"wrong type": {
			&droverv1.Request{Service: "print", Arguments: arguments{"code": text("x")}},
			connect.CodeInvalidArgument, "wrong-type", "request.arguments.code",
		},
		"no value": {
			&droverv1.Request{Service: "print", Arguments: arguments{"code": {}}},
			connect.CodeInvalidArgument, "bad-value", "request.arguments.code",
		},
		"out of range": {
			&droverv1.Request{Service: "print", Arguments: arguments{"code": number(100)}},
			connect.CodeInvalidArgument, "out-of-range", "request.arguments.code",
		},
		"too wide": {
			&droverv1.Request{Service: "block", Width: 5}, connect.CodeFailedPrecondition, "too-wide",
			"request.width",
		},
		"negative width": {
			&droverv1.Request{Service: "block", Width: -1}, connect.CodeInvalidArgument, "out-of-range",
			"request.width",
		},
		"no walltime": {
			&droverv1.Request{Service: "block", Walltime: seconds(0)}, connect.CodeInvalidArgument,
			"out-of-range", "request.walltime",
		},
		"short walltime": {
			&droverv1.Request{Service: "block", Walltime: &durationpb.Duration{Nanos: 1}},
			connect.CodeInvalidArgument, "out-of-range", "request.walltime",
		},
		"absurd walltime": {
			&droverv1.Request{Service: "block", Walltime: seconds(315_576_000_000)},
			connect.CodeInvalidArgument, "out-of-range", "request.walltime",
		},
		"half a walltime": {
			&droverv1.Request{Service: "block", Walltime: &durationpb.Duration{Seconds: 1, Nanos: -1}},
			connect.CodeInvalidArgument, "out-of-range", "request.walltime",
		},
		"bad deadline": {
			&droverv1.Request{Service: "block", Deadline: &timestamppb.Timestamp{Seconds: -1}},
			connect.CodeInvalidArgument, "out-of-range", "request.deadline",
		},
		"late": {
			&droverv1.Request{Service: "block", Deadline: &timestamppb.Timestamp{Seconds: 9}},
			connect.CodeFailedPrecondition, "too-late", "request.deadline",
		},
		"odd CPU": {
			&droverv1.Request{Service: "block", Cpu: 1.5}, connect.CodeInvalidArgument, "out-of-range",
			"request.cpu",
		},
		"unknown content": {
			&droverv1.Request{Service: "copy", Arguments: arguments{"from": file(unknown)}},
			connect.CodeNotFound, "unknown-content", "request.arguments.from",
		},
		"no hash": {&droverv1.Request{
			Service:   "copy",
			Arguments: arguments{"from": file(&droverv1.File{Sha256: "../x"})},
		}, connect.CodeInvalidArgument, "bad-value", "request.arguments.from"},
		"another size": {&droverv1.Request{
			Service: "copy",
			Arguments: arguments{"from": file(&droverv1.File{
				Sha256:    known.GetSha256(),
				SizeBytes: 4,
			})},
		}, connect.CodeInvalidArgument, "bad-value", "request.arguments.from"},
		"a path as a name": {&droverv1.Request{
			Service: "copy",
			Arguments: arguments{"from": file(&droverv1.File{
				Sha256: known.GetSha256(), SizeBytes: 5,
				Name: "../x",
			})},
		}, connect.CodeInvalidArgument, "out-of-range", "request.arguments.from"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: tc.request})
			code, d := detail(t, err)
			if code != tc.code || d.GetReason() != tc.reason || d.GetField() != tc.field || d.GetAccepted() == "" ||
				d.GetMessage() == "" || d.GetRetryable() {
				t.Errorf("%v %v", code, d)
			}
			if strings.Contains(d.String(), s.data.Root) {
				t.Errorf("the error contains a server path: %v", d)
			}
			if tc.reason == "unknown-content" {
				return // estimates do not read the content
			}
			res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: tc.request})
			if err == nil && res.GetQuote().GetRefusal().GetReason() != tc.reason &&
				!strings.HasPrefix(tc.field, "request.arguments.from") {
				t.Errorf("estimate: %v", res)
			}
		})
	}
	if left, err := os.ReadDir(s.data.Jobs()); err != nil || len(left) != 0 {
		t.Errorf("refused submissions left %v, %v", left, err)
	}
}

func TestJobIDsAreChecked(t *testing.T) {
	s := start(t, configured(t, ""))
	for name, tc := range map[string]struct{ id, reason string }{
		"none":        {"", "bad-value"},
		"a path":      {"../../../etc/passwd", "bad-value"},
		"upper case":  {"0199C7A0-0000-7000-8000-000000000000", "bad-value"},
		"out of date": {"01800000-0000-7000-8000-000000000000", "stale-id"},
		"to come":     {"ffffffff-ffff-7000-8000-000000000000", "stale-id"},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
			JobId:   tc.id,
			Request: &droverv1.Request{Service: "print"},
		})
		if _, d := detail(t, err); d.GetReason() != tc.reason || d.GetField() != "job_id" {
			t.Errorf("%s: %v", name, d)
		}
	}
	for name, call := range map[string]func(id string) error{
		"GetJob": func(id string) error {
			_, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: id})
			return err
		},
		"CancelJob": func(id string) error {
			_, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: id})
			return err
		},
		"WatchJob": func(id string) error {
			stream, err := s.client.WatchJob(within(t), &droverv1.WatchJobRequest{JobId: id})
			if err != nil {
				return err
			}
			defer stream.Close()
			for stream.Receive() {
			}
			return stream.Err()
		},
		"ReadLogs": func(id string) error {
			stream, err := s.client.ReadLogs(within(t), &droverv1.ReadLogsRequest{JobId: id, Follow: true})
			if err != nil {
				return err
			}
			defer stream.Close()
			for stream.Receive() {
			}
			return stream.Err()
		},
	} {
		for id, reason := range map[string]string{newID(t): "unknown-job", "x": "bad-value"} {
			if _, d := detail(t, call(id)); d.GetReason() != reason || d.GetField() != "job_id" {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
}

func TestSubmitToAFullQueueIsRefused(t *testing.T) {
	s := start(t, configured(t, "limits: {waiting: 1}"))
	running := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, running.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	req := &droverv1.SubmitRequest{JobId: newID(t), Request: &droverv1.Request{Service: "print"}}
	for range 2 { // the second call repeats the first and creates no job
		if _, err := s.client.Submit(within(t), req); err != nil {
			t.Fatal(err)
		}
	}
	req.JobId = newID(t)
	_, err := s.client.Submit(within(t), req)
	if code, d := detail(t, err); code != connect.CodeResourceExhausted || d.GetReason() != "queue-full" ||
		!d.GetRetryable() {
		t.Errorf("%v %v", code, d)
	}
	// An estimate reports the full queue to agents.
	res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: req.GetRequest()})
	if d := res.GetQuote().GetRefusal(); err != nil || d.GetReason() != "queue-full" || !d.GetRetryable() ||
		d.GetAccepted() == "" {
		t.Errorf("estimate: %v, %v", res, err)
	}
}

func TestOnePortServesConnectAndGRPCWithHealthAndReflection(t *testing.T) {
	s := start(t, configured(t, ""))
	for name, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2.0": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			set(transport.Protocols)
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			req, err := http.NewRequestWithContext(within(t), http.MethodPost, s.URL()+"/grpc.health.v1.Health/Check",
				strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK || res.Proto != name {
				t.Errorf("%s %s", res.Proto, res.Status)
			}
			about, err := droverv1connect.NewServerServiceClient(client, s.URL()).Describe(within(t),
				&droverv1.DescribeRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if site := about.GetSite(); site.GetName() != "lyon" || site.GetPlatform().GetProcessors() != 4 ||
				site.GetPolicy() != "cbf" ||
				site.GetSpeed() != 1 || site.GetAddress() != s.URL() || len(site.GetCapabilities()) != 2 {
				t.Errorf("site: %v", site)
			}
			if sv := about.GetServices(); len(sv) != 6 || sv[1].GetName() != "block" || !sv[1].GetMoldable() ||
				sv[1].GetWidthMax() != 4 ||
				sv[4].GetArguments()[1].GetMaximum().GetIntValue() != 99 ||
				sv[2].GetArguments()[1].GetType() != droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT {
				t.Errorf("services: %v", sv)
			}
			if name != "HTTP/2.0" {
				return // reflection uses a bidirectional stream
			}
			stream := grpcreflect.NewClient(client, s.URL()).NewStream(within(t))
			names, err := stream.ListServices()
			if _, e := stream.Close(); e != nil || err != nil || len(names) != 2 ||
				names[0] != droverv1connect.ServerServiceName {
				t.Errorf("reflection: %v, %v, %v", names, err, e)
			}
		})
	}
}

func TestInternalErrorsAreNotPublic(t *testing.T) {
	secret := &os.PathError{Op: "open", Path: "/secret", Err: os.ErrPermission}
	if p := problemOf(fmt.Errorf("reading: %w", secret)); p != nil {
		t.Errorf("problem %v, want nil: its text is for the log alone", p)
	}
	if p := problemOf(errStopping); p == nil || p.Reason != problem.Stopping {
		t.Errorf("problem %v, want stopping", p)
	}
}
