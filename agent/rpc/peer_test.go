package rpc

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestDraftPiecesCutsALongCall(t *testing.T) {
	c := &rounds.Call{Begin: true, End: true}
	for i := range 2*mostInPiece + 10 {
		if i < mostInPiece+5 {
			c.Edits = append(c.Edits, rounds.Edit{Job: i})
		} else {
			c.Questions = append(c.Questions, rounds.Question{Job: i, Standing: i%2 == 0, After: batch.Second})
		}
	}
	var got []string
	list := DraftPieces(c, func(i int) (string, Request) { return fmt.Sprint(i), Request{&droverv1.Request{}} })
	for _, piece := range list {
		p := piece.m
		got = append(got, fmt.Sprintf("%v %d %d %v", p.GetBegin(), len(p.GetEdits()), len(p.GetQuestions()),
			p.GetEnd()))
	}
	if d := cmp.Diff([]string{"true 500 0 false", "false 5 495 false", "false 0 10 true"}, got); d != "" {
		t.Error(d)
	}
	if q := list[1].m.GetQuestions()[0]; q.GetJobId() != "505" || q.GetRequest() == nil ||
		q.GetNotBefore().AsDuration() != time.Second {
		t.Errorf("%v", q)
	}
	if q := list[1].m.GetQuestions()[1]; q.GetRequest() != nil || q.GetNotBefore() != nil {
		t.Errorf("%v", q)
	}
	long := &droverv1.Request{Shapes: make([]*droverv1.Shape, 100_000)}
	for i := range long.GetShapes() {
		long.Shapes[i] = &droverv1.Shape{Width: 1 << 20, Walltime: durationpb.New(time.Hour)}
	}
	longJob := func(i int) (string, Request) { return fmt.Sprint(i), Request{long} }
	c = &rounds.Call{Questions: []rounds.Question{{Job: 0}, {Job: 1}, {Job: 2}}}
	if n := len(DraftPieces(c, longJob)); n != 3 {
		t.Errorf("three requests of a megabyte each in %d messages", n)
	}
	if n := len(DraftPieces(&rounds.Call{Begin: true}, nil)); n != 1 {
		t.Errorf("an empty call in %d messages", n)
	}
}
