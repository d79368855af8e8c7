package site

import (
	"errors"
	"fmt"
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
		"variant": "01900000-0000-7000-c000-000000000000", "no dashes": strings.ReplaceAll(good, "-", ""),
		"newline": good + "\n",
		"path":    "../../../etc/passwd", "long": strings.Repeat("a", 1<<20), "short": good[1:],
		"braces": "{" + good + "}",
	} {
		_, err := CheckID(id)
		var refused *problem.Problem
		if !errors.As(err, &refused) || refused.Reason != problem.BadValue || refused.Field != "job_id" ||
			len(refused.Error()) > 300 {
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
		{made, false},
		{made.Add(Horizon), false},
		{made.Add(Horizon + 1), true},
		{made - batch.Time(Ahead), false},
		{made - batch.Time(Ahead) - 1, true},
	} {
		err := CheckAge(tt.now, tt.now, id)
		var refused *problem.Problem
		if stale := errors.As(err, &refused) && refused.Reason == problem.StaleID; stale != tt.stale ||
			(err != nil) != tt.stale {
			t.Errorf("%v after it was made: %v", tt.now.Sub(made), err)
		}
	}
	if err := CheckAge(made.Add(Horizon), made.Add(2*Horizon), id); err != nil {
		t.Errorf("records are kept longer: %v", err)
	}
	if err := CheckAge(made-batch.Time(2*Ahead), made, id); err != nil {
		t.Errorf("the clock was behind: %v", err)
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
		"request.shapes[1].walltime": func(r *Request) {
			r.Menu = menu(1, 1, 2, int64(catalogue.MaxTime/batch.Second)+1)
		},
		"request.licenses[0]": func(r *Request) { r.Licenses = []batch.License{{Name: "x"}} },
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
		t.Error("a menu that is too long is accepted")
	}
	if r = good(); r.Walltime != 0 || r.Validate() != nil {
		t.Error("a plain request is refused")
	}
	r.Menu = menu(1, 5, 3, 2)
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLabelsAreBounded(t *testing.T) {
	many := func(n int) map[string]string {
		m := make(map[string]string)
		for i := range n {
			m[fmt.Sprint(i)] = "v"
		}
		return m
	}
	long := strings.Repeat("x", maxLabelValue)
	for name, c := range map[string]struct {
		labels map[string]string
		field  string // "" if they are accepted
	}{
		"as many as there may be": {many(maxLabels), ""},
		"one more":                {many(maxLabels + 1), "request.labels"},
		"without a key":           {map[string]string{"": "v"}, "request.labels"},
		"the longest key":         {map[string]string{long[:maxLabelKey]: "v"}, ""},
		"a longer one":            {map[string]string{long[:maxLabelKey+1]: "v"}, "request.labels"},
		"the longest value":       {map[string]string{"k": long}, ""},
		"a longer value":          {map[string]string{"k": long + "x"}, "request.labels.k"},
	} {
		err := (&Request{Service: "s", Labels: c.labels}).Validate()
		if c.field == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.field != "" {
			refused(t, err, problem.OutOfRange, c.field)
		}
	}
}

func TestRequestBoundToASiteIsRefusedByOthers(t *testing.T) {
	r := &Request{Menu: menu(2, 10), Site: "lyon"}
	nancy := named(t, "nancy")
	plan := &rectangles{processors: 4}
	_, err := nancy.Submit(sec(1), Submission{ID: numbered(1), Request: r}, plan)
	refused(t, err, problem.CannotRun, "request.site")
	_, err = nancy.Quote(sec(1), Question{Request: r}, plan)
	refused(t, err, problem.CannotRun, "request.site")
	var out [1]Answer
	nancy.Quotes(sec(1), []Question{{Request: r}}, out[:], plan)
	refused(t, out[0].Err, problem.CannotRun, "request.site")
	answer, reply := nancy.Receive(sec(1), &Message{
		Kind: Reserve, From: "lyon", To: "nancy", Job: numbered(1), Epoch: 1,
		Parcel: &Parcel{Dossier: &Dossier{Request: *r}},
	}, idle(numbered(2), 0))
	if !reply || answer.Kind != Refused {
		t.Errorf("a move to another site: %+v", answer)
	}
}

func TestBoundJobIsNeitherHeldNorMovedAlsoAfterARestart(t *testing.T) {
	s := named(t, "lyon")
	submit(t, s, sec(1), numbered(1), &Request{Menu: menu(2, 10), Site: "lyon"})
	fx := take(s, sec(1))
	again := named(t, "lyon")
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	if err := again.Recover(sec(2), nil); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Site{"as submitted": s, "after a restart": again} {
		if held, err := s.Hold(sec(2), "round", batch.Minute, nil); err != nil || len(held) != 0 {
			t.Errorf("%s: held %v, %v", name, held, err)
		}
		_, err := s.Move(sec(2), MoveRequest{Job: numbered(1), To: "nancy"}, idle(numbered(1), sec(9)))
		refused(t, err, problem.NotMovable, "job_id")
		if l := s.Load(); l.Waiting != 1 || l.Bound != 1 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestFingerprintIgnoresWhatTheServerKnowsOfData(t *testing.T) {
	handle := func(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012d", n) }
	of := func(v catalogue.Value, sticky bool) *Request {
		return &Request{
			Service: "copy", Arguments: map[string]catalogue.Value{"from": v, "n": catalogue.Int(3)}, Sticky: sticky,
		}
	}
	sent := of(catalogue.FileIn(catalogue.File{Data: handle(1)}), false)
	for name, known := range map[string]*Request{
		"its content": of(catalogue.FileIn(catalogue.File{Data: handle(1), SHA256: "ab", Size: 3, Name: "x"}),
			false),
		"that it is a matrix": of(catalogue.Array(catalogue.File{Data: handle(1)},
			catalogue.Layout{Element: catalogue.Uint8, Dims: []int64{1, 3}}), false),
		"that it stays here": of(catalogue.FileIn(catalogue.File{Data: handle(1)}), true),
	} {
		before := known.Arguments["from"]
		if known.fingerprint() != sent.fingerprint() {
			t.Errorf("%s changes the fingerprint", name)
		}
		if known.Arguments["from"] != before {
			t.Errorf("%s: the request changed", name)
		}
	}
	for name, other := range map[string]*Request{
		"handle": of(catalogue.FileIn(catalogue.File{Data: handle(2)}), false),
		"file":   of(catalogue.FileIn(catalogue.File{SHA256: "ab", Size: 3}), false),
	} {
		if other.fingerprint() == sent.fingerprint() {
			t.Errorf("another %s does not change the fingerprint", name)
		}
	}
	kept := of(catalogue.FileIn(catalogue.File{Data: handle(1)}), false)
	kept.Keep = map[string]Keep{"to": {ID: handle(3), Mode: "sticky"}}
	if kept.fingerprint() == sent.fingerprint() {
		t.Error("kept data do not change the fingerprint")
	}
}

func TestKeptHandlesAreValidated(t *testing.T) {
	const id = "01900000-0000-7000-8000-000000000001"
	many := make(map[string]Keep)
	for i := range maxKeep + 1 {
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
