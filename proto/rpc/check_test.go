package rpc_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func TestCheckNamesTheFirstBadField(t *testing.T) {
	request := func(change func(*droverv1.Request)) proto.Message {
		r := &droverv1.Request{Service: "s"}
		change(r)
		return &droverv1.SubmitRequest{Request: r}
	}
	file := func(size int64) *droverv1.Value {
		return &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: &droverv1.File{SizeBytes: size}}}
	}
	array := &droverv1.Value{
		Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{Content: &droverv1.File{SizeBytes: -1}}},
	}
	for name, tc := range map[string]struct {
		message proto.Message
		reason  problem.Reason
		field   string
	}{
		"missing request": {&droverv1.SubmitRequest{}, problem.BadValue, "request"},
		"empty service": {
			request(func(r *droverv1.Request) { r.Service = "" }), problem.BadValue, "request.service",
		},
		"long owner": {
			request(func(r *droverv1.Request) { r.Owner = strings.Repeat("x", 256) }), problem.OutOfRange,
			"request.owner",
		},
		"control characters": {
			request(func(r *droverv1.Request) { r.Owner = "\x1b[2J" }), problem.BadValue, "request.owner",
		},
		"negative width": {
			request(func(r *droverv1.Request) { r.Width = -1 }), problem.OutOfRange, "request.width",
		},
		"zero walltime": {
			request(func(r *droverv1.Request) { r.Walltime = &durationpb.Duration{} }), problem.OutOfRange,
			"request.walltime",
		},
		"walltime below 1s": {request(func(r *droverv1.Request) {
			r.Walltime = &durationpb.Duration{Nanos: 1}
		}), problem.OutOfRange, "request.walltime"},
		"mixed signs": {request(func(r *droverv1.Request) {
			r.Walltime = &durationpb.Duration{Seconds: 1, Nanos: -1}
		}), problem.OutOfRange, "request.walltime"},
		"century": {request(func(r *droverv1.Request) {
			r.Walltime = &durationpb.Duration{Seconds: 315_576_001}
		}), problem.OutOfRange, "request.walltime"},
		"deadline before 1970": {request(func(r *droverv1.Request) {
			r.Deadline = &timestamppb.Timestamp{Seconds: -1}
		}), problem.OutOfRange, "request.deadline"},
		"share above 1": {
			request(func(r *droverv1.Request) { r.Cpu = 1.5 }), problem.OutOfRange, "request.cpu",
		},
		"control characters of a retry": {
			request(func(r *droverv1.Request) { r.RetryOf = "a\nb" }), problem.BadValue, "request.retry_of",
		},
		"negative memory": {
			request(func(r *droverv1.Request) { r.MemoryBytes = -1 }), problem.OutOfRange, "request.memory_bytes",
		},
		"negative input": {
			request(func(r *droverv1.Request) { r.InputBytes = -1 }), problem.OutOfRange, "request.input_bytes",
		},
		"start before 1970": {request(func(r *droverv1.Request) {
			r.EarliestStart = &timestamppb.Timestamp{Seconds: -1}
		}), problem.OutOfRange, "request.earliest_start"},
		"negative share": {
			request(func(r *droverv1.Request) { r.Cpu = -0.5 }), problem.OutOfRange, "request.cpu",
		},
		"negative retries": {
			request(func(r *droverv1.Request) { r.Retries = -1 }), problem.OutOfRange, "request.retries",
		},
		"too many retries": {
			request(func(r *droverv1.Request) { r.Retries = rpc.MaxRetries + 1 }), problem.OutOfRange,
			"request.retries",
		},
		"booking before 1970": {
			&droverv1.BookReservationRequest{Booking: &droverv1.Booking{From: &timestamppb.Timestamp{Seconds: -1}}},
			problem.OutOfRange, "booking.from",
		},
		"second license": {request(func(r *droverv1.Request) {
			r.Licenses = []*droverv1.License{{}, {Name: "\n"}}
		}), problem.BadValue, "request.licenses[1].name"},
		"too many licenses": {
			request(func(r *droverv1.Request) { r.Licenses = make([]*droverv1.License, 1001) }), problem.OutOfRange,
			"request.licenses",
		},
		"first of two files": {request(func(r *droverv1.Request) {
			r.Arguments = map[string]*droverv1.Value{"b": file(-2), "a": file(-1)}
		}), problem.OutOfRange, "request.arguments.a"},
		"vector": {request(func(r *droverv1.Request) {
			r.Arguments = map[string]*droverv1.Value{"v": array}
		}), problem.OutOfRange, "request.arguments.v"},
		"epoch 0": {
			&droverv1.ReserveRequest{Request: &droverv1.Request{Service: "s"}}, problem.OutOfRange, "epoch",
		},
		"negative offset": {&droverv1.ReadLogsRequest{Offset: -1}, problem.OutOfRange, "offset"},
		"reason of a placement": {
			&droverv1.PlaceJobsRequest{Placements: []*droverv1.Placement{{Reason: "\n"}}}, problem.BadValue,
			"placements[0].reason",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var p *problem.Problem
			if !errors.As(rpc.Check("", tc.message), &p) || p.Reason != tc.reason || p.Field != tc.field ||
				p.Accepted == "" || !strings.HasPrefix(p.Message, tc.field+": ") {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestCheckAcceptsTheLimitsThemselves(t *testing.T) {
	for name, m := range map[string]proto.Message{
		"only a service": &droverv1.SubmitRequest{Request: &droverv1.Request{Service: "s"}},
		"largest values": &droverv1.SubmitRequest{Request: &droverv1.Request{
			Service: strings.Repeat("s", rpc.MaxWord), Width: rpc.MaxProcessors,
			Walltime: durationpb.New(rpc.MaxWalltime), Cpu: 1,
			Deadline: &timestamppb.Timestamp{Seconds: 253_402_300_799}, Retries: rpc.MaxRetries,
		}},
		"control characters in a history": &droverv1.ReserveRequest{
			Epoch: 1, Request: &droverv1.Request{Service: "s"}, Moves: []*droverv1.Move{{Reason: "\n"}},
		},
		"bad request of one edit": &droverv1.DraftRequest{
			Edits: []*droverv1.DraftEdit{{Request: &droverv1.Request{Width: -1}}},
		},
		"message without rules": &droverv1.GetJobRequest{},
	} {
		if err := rpc.Check("", m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckPrependsThePath(t *testing.T) {
	var p *problem.Problem
	if !errors.As(rpc.Check("request", &droverv1.Request{}), &p) || p.Field != "request.service" {
		t.Errorf("%+v", p)
	}
}
