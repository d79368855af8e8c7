package site

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func TestCheckID(t *testing.T) {
	fresh, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	if id, err := CheckID(fresh.String()); err != nil || string(id) != fresh.String() {
		t.Errorf("%v: %v", fresh, err)
	}
	const good = "01900000-0000-7000-8000-000000000000"
	for name, id := range map[string]string{
		"empty": "", "upper case": strings.ToUpper(fresh.String()), "version 4": "01900000-0000-4000-8000-000000000000",
		"variant": "01900000-0000-7000-c000-000000000000", "no dashes": strings.ReplaceAll(good, "-", ""), "newline": good + "\n",
		"path": "../../../etc/passwd", "long": strings.Repeat("a", 1<<20), "short": good[1:], "braces": "{" + good + "}",
	} {
		_, err := CheckID(id)
		var refused *problem.Problem
		if !errors.As(err, &refused) || refused.Reason != problem.BadValue || refused.Field != "job_id" || len(refused.Error()) > 300 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCheckAge(t *testing.T) {
	const id = batch.JobID("01900000-0000-7000-8000-000000000000")
	made := batch.Time(0x019000000000) * batch.Time(batch.Millisecond)
	for _, tt := range []struct {
		now   batch.Time
		stale bool
	}{
		{made, false}, {made.Add(Horizon), false}, {made.Add(Horizon + 1), true}, {made - batch.Time(Ahead), false}, {made - batch.Time(Ahead) - 1, true},
	} {
		err := CheckAge(tt.now, id)
		var refused *problem.Problem
		if stale := errors.As(err, &refused) && refused.Reason == problem.StaleID; stale != tt.stale || (err != nil) != tt.stale {
			t.Errorf("%v after it was made: %v", tt.now.Sub(made), err)
		}
	}
}

func TestRequestsFromOutsideAreChecked(t *testing.T) {
	good := func() Request { return Request{Service: "a"} }
	for field, change := range map[string]func(*Request){
		"request.labels":             func(r *Request) { r.Labels = map[string]string{"a\x00": "b"} },
		"request.labels.a":           func(r *Request) { r.Labels = map[string]string{"a": "\x07"} },
		"request.shapes":             func(r *Request) { r.Menu, r.Width = menu(1, 1), 1 },
		"request.shapes[0].width":    func(r *Request) { r.Menu = menu(0, 1) },
		"request.shapes[1].width":    func(r *Request) { r.Menu = menu(2, 1, 2, 1) },
		"request.shapes[0].walltime": func(r *Request) { r.Menu = menu(1, 0) },
		"request.shapes[1].walltime": func(r *Request) { r.Menu = menu(1, 1, 2, int64(catalogue.MaxTime/batch.Second)+1) },
		"request.licenses[0]":        func(r *Request) { r.Licenses = []batch.License{{Name: "x"}} },
	} {
		r := good()
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&r)
		err := r.Validate()
		var refused *problem.Problem
		if !errors.As(err, &refused) || refused.Field != field || refused.Accepted == "" {
			t.Errorf("%s: got %v", field, err)
		}
	}
	r := good()
	r.Menu = make([]batch.Shape, maxMenu+1)
	if r.Validate() == nil {
		t.Error("an endless menu is accepted")
	}
	if r = good(); r.Walltime != 0 || r.Validate() != nil {
		t.Error("a plain request is refused")
	}
	r.Menu = menu(1, 5, 3, 2)
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}
