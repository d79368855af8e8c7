package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/agent/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// multiply is a request with something in most of its fields.
func multiply() *droverv1.Request {
	return &droverv1.Request{
		Service: "lu", Owner: "ann", Width: 2, Walltime: durationpb.New(time.Hour),
		Licenses: []*droverv1.License{{Name: "x", Copies: 1}},
		Deadline: timestamppb.New(time.Unix(2e9, 0)), EarliestStart: timestamppb.New(time.Unix(1e9, 0)),
		InputSite: "lyon",
		Labels:    map[string]string{"run": "1"},
		Arguments: map[string]*droverv1.Value{
			"n": {Kind: &droverv1.Value_IntValue{IntValue: 3}},
			"m": {Kind: &droverv1.Value_FloatValue{FloatValue: 0.5}},
			"block": {Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
				Content: &droverv1.File{Sha256: "ab", SizeBytes: 16},
				Element: droverv1.ElementType_ELEMENT_TYPE_FLOAT64, Dimensions: []int64{2},
			}}},
			"matrix": {Kind: &droverv1.Value_FileValue{FileValue: &droverv1.File{
				Sha256: "ab", SizeBytes: 1000, Name: "a.dat",
			}}},
		},
	}
}

func TestJobsAreAlikeIfNoFieldThatAnswersDependOnDiffers(t *testing.T) {
	file := func(r *droverv1.Request) *droverv1.File { return r.GetArguments()["matrix"].GetFileValue() }
	for name, c := range map[string]struct {
		change func(*droverv1.Request)
		alike  bool
	}{
		"nothing": {func(*droverv1.Request) {}, true},
		"labels":  {func(r *droverv1.Request) { r.Labels["run"] = "2" }, true},
		"what it is a new attempt of": {
			func(r *droverv1.Request) { r.RetryOf, r.Idempotent = "other", true }, true,
		},
		"the content of a file": {func(r *droverv1.Request) { file(r).Sha256, file(r).Name = "cd", "b.dat" }, true},
		"the content of an array": {func(r *droverv1.Request) {
			r.GetArguments()["block"].GetArrayValue().GetContent().Sha256 = "cd"
		}, true},
		"the dimensions of an array": {func(r *droverv1.Request) {
			r.GetArguments()["block"].GetArrayValue().Dimensions = []int64{1, 2}
		}, false},
		"the size of a file": {func(r *droverv1.Request) { file(r).SizeBytes++ }, false},
		"the service":        {func(r *droverv1.Request) { r.Service = "qr" }, false},
		"an argument": {func(r *droverv1.Request) {
			r.Arguments["n"].Kind = &droverv1.Value_IntValue{IntValue: 4}
		}, false},
		"an argument's name": {func(r *droverv1.Request) {
			r.Arguments["k"] = r.Arguments["n"]
			delete(r.Arguments, "n")
		}, false},
		"the owner":    {func(r *droverv1.Request) { r.Owner = "bob" }, false},
		"the width":    {func(r *droverv1.Request) { r.Width = 3 }, false},
		"the walltime": {func(r *droverv1.Request) { r.Walltime.Seconds++ }, false},
		"the shapes": {
			func(r *droverv1.Request) { r.Shapes = append(r.Shapes, &droverv1.Shape{Width: 1}) }, false,
		},
		"the deadline":       {func(r *droverv1.Request) { r.Deadline = nil }, false},
		"the earliest start": {func(r *droverv1.Request) { r.EarliestStart.Seconds++ }, false},
		"the memory":         {func(r *droverv1.Request) { r.MemoryBytes = 1 }, false},
		"the share":          {func(r *droverv1.Request) { r.Cpu = 0.5 }, false},
		"the licenses":       {func(r *droverv1.Request) { r.Licenses[0].Copies = 2 }, false},
		"the input":          {func(r *droverv1.Request) { r.InputBytes = 5 }, false},
		"where the input is": {func(r *droverv1.Request) { r.InputSite = "" }, false},
		"an unknown field": {func(r *droverv1.Request) {
			r.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := multiply()
			c.change(other)
			before := proto.CloneOf(other)
			likes := alikeOf([]waitingJob{
				{request: rpc.NewRequest(multiply())},
				{},
				{request: rpc.NewRequest(other)},
				{},
				{request: rpc.NewRequest(multiply())},
			})
			want := []int{1, 0, 2, 0, 1}
			if c.alike {
				want[2] = 1
			}
			if d := cmp.Diff(want, likes); d != "" {
				t.Error(d)
			}
			if !proto.Equal(before, other) {
				t.Errorf("the request was changed: %v", other)
			}
		})
	}
}

func TestARoundAsksAboutOneOfTheJobsThatAreAlike(t *testing.T) {
	full, idle := queueOf("full", 6, 0), queueOf("idle", 0, 0)
	connected(full, idle)
	g := newGrid(t, nil, full.start(t), idle.start(t))
	order := &droverv1.ReallocateRequest{
		DryRun: true, Algorithm: "all-cancellation", Heuristic: "minmin", Window: "all",
	}
	alike := g.reallocate(t, order)
	for i, j := range full.jobs {
		j.Request.Owner = fmt.Sprint(i)
	}
	unlike := g.reallocate(t, order)
	if d := cmp.Diff(chosen(unlike), chosen(alike)); d != "" {
		t.Errorf("they choose otherwise: %s", d)
	}
	if a, u := alike.GetRecord().GetEstimates(), unlike.GetRecord().GetEstimates(); a >= u {
		t.Errorf("%d estimates for jobs that are alike, %d for others", a, u)
	} else {
		t.Logf("%d estimates instead of %d", a, u)
	}
}
