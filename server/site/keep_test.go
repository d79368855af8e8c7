package site

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func TestWhatIsKnownOfDataMakesNoOtherRequest(t *testing.T) {
	handle := func(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012d", n) }
	of := func(v catalogue.Value, sticky bool) *Request {
		return &Request{Service: "copy", Arguments: map[string]catalogue.Value{"from": v, "n": catalogue.Int(3)}, Sticky: sticky}
	}
	sent := of(catalogue.FileIn(catalogue.File{Data: handle(1)}), false)
	for name, known := range map[string]*Request{
		"its content":         of(catalogue.FileIn(catalogue.File{Data: handle(1), SHA256: "ab", Size: 3, Name: "x"}), false),
		"that it is a matrix": of(catalogue.Array(catalogue.File{Data: handle(1)}, catalogue.Layout{Element: catalogue.Uint8, Dims: []int64{1, 3}}), false),
		"that it stays here":  of(catalogue.FileIn(catalogue.File{Data: handle(1)}), true),
	} {
		before := known.Arguments["from"]
		if known.fingerprint() != sent.fingerprint() {
			t.Errorf("%s makes another request", name)
		}
		if known.Arguments["from"] != before {
			t.Errorf("%s: the request was changed", name)
		}
	}
	for name, other := range map[string]*Request{
		"handle": of(catalogue.FileIn(catalogue.File{Data: handle(2)}), false),
		"file":   of(catalogue.FileIn(catalogue.File{SHA256: "ab", Size: 3}), false),
	} {
		if other.fingerprint() == sent.fingerprint() {
			t.Errorf("another %s makes the same request", name)
		}
	}
	kept := of(catalogue.FileIn(catalogue.File{Data: handle(1)}), false)
	kept.Keep = map[string]Keep{"to": {ID: handle(3), Mode: "sticky"}}
	if kept.fingerprint() == sent.fingerprint() {
		t.Error("what is kept makes no other request")
	}
}

func TestHandlesOfWhatIsKeptAreChecked(t *testing.T) {
	const id = "01900000-0000-7000-8000-000000000001"
	many := make(map[string]Keep)
	for i := range mostKeeps + 1 {
		many[fmt.Sprint(i)] = Keep{ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", i)}
	}
	for name, tc := range map[string]struct {
		keep  map[string]Keep
		field string
	}{
		"none":  {map[string]Keep{"a": {}}, "request.keep.a.data_id"},
		"path":  {map[string]Keep{"a": {ID: "../a"}}, "request.keep.a.data_id"},
		"twice": {map[string]Keep{"a": {ID: id}, "b": {ID: id}}, "request.keep.b.data_id"},
		"many":  {many, "request.keep"},
	} {
		err := (&Request{Service: "copy", Keep: tc.keep}).Validate()
		var refusal *problem.Problem
		if !errors.As(err, &refusal) || refusal.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&Request{Service: "copy", Keep: map[string]Keep{"a": {ID: id}}}).Validate(); err != nil {
		t.Error(err)
	}
}
