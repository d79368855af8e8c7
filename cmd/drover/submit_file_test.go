package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestALineOverridesTheCommandLine(t *testing.T) {
	width, hour := 4, time.Hour
	def := &request{
		Args: []string{"a=1", "b=2"}, Width: &width, Deadline: &hour, Label: map[string]string{"k": "v"}, Owner: "me",
	}
	entries, err := readLines(strings.NewReader(
		`{"arguments": {"b": 3.50, "c": true, "d": "x=y"}, "walltime": "1-00:00:00", "labels": {"l": "w"}, "rerunAfter": 90, "idempotent": true}`+
			"\n\n"+`{"service": "other", "width": 2, "deadline": "90s"}`+"\r\n"), "svc", def)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%+v, %v", entries, err)
	}
	first, second := entries[0], entries[1]
	if want := []string{"a=1", "b=3.50", "c=true", "d=x=y"}; !cmp.Equal(first.request.Args, want) {
		t.Errorf("arguments %q, want %q", first.request.Args, want)
	}
	if first.service != "svc" || first.line != 1 || *first.request.Walltime != 24*time.Hour ||
		first.request.RerunAfter != 90*time.Second ||
		*first.request.Width != 4 || first.request.Owner != "me" || len(first.request.Label) != 2 {
		t.Errorf("first: %+v", first)
	}
	if second.service != "other" || second.line != 3 || *second.request.Width != 2 ||
		*second.request.Deadline != 90*time.Second {
		t.Errorf("second: %+v", second)
	}
	if *def.Deadline != time.Hour || len(def.Label) != 1 || def.Args[1] != "b=2" {
		t.Errorf("the request of the command line changed to %+v", def)
	}
}

func TestErrorsNameBadLines(t *testing.T) {
	const good = `{"service": "s"}` + "\n"
	for text, want := range map[string]string{
		"":                                                   "no request",
		"\n \n":                                              "no request",
		good + "{":                                           "line 2: ",
		good + "null":                                        "line 2: no service",
		good + "[1]":                                         "line 2: array, accepted: a JSON object",
		good + `{"service": "s"} {}`:                         "line 2: more than one",
		`{"service": 1}`:                                     "line 1: service: number, accepted: a string",
		`{"service": "s", "args": {}}`:                       `line 1: unknown field "args"`,
		`{"service": "s", "width": 1.5}`:                     "line 1: width: number 1.5, accepted: an integer",
		`{"service": "s", "labels": {"a": 1}}`:               "line 1: labels",
		`{"service": "s", "labels": 1}`:                      "line 1: labels: number, accepted: a JSON object",
		`{"service": "s", "value": "1"}`:                     "line 1: value: string, accepted: a number",
		`{"service": "s", "idempotent": 1}`:                  "line 1: idempotent: number, accepted: true or false",
		good + "\ufeff" + good:                               "line 2: invalid character",
		`{"service": "s", "walltime": "10:00"}`:              "line 1: ",
		`{"service": "s", "walltime": 1e30}`:                 "line 1: ",
		`{"service": "s", "walltime": true}`:                 "line 1: ",
		`{"service": "s", "arguments": {"a": [""]}}`:         "line 1: argument a: ",
		`{"service": "s", "arguments": {"a": null}}`:         "line 1: argument a: ",
		`{"service": "s", "arguments": {"a=b": 1}}`:          "line 1: argument \"a=b\"",
		good + strings.Repeat(" ", maxLineBytes+10):          "line 2 is longer",
		good + "{" + strings.Repeat("x", maxLineBytes) + "}": "line 2 is longer",
		strings.Repeat(good, maxLines+1):                     "line 100001: more than 100000 requests",
	} {
		if w, err := readLines(strings.NewReader(text), "", &request{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %d requests, %v, want %q", text, len(w), err, want)
		}
	}
	if w, err := readLines(strings.NewReader("\ufeff"+good), "", &request{}); err != nil || len(w) != 1 {
		t.Errorf("a byte order mark before the first line: %d requests, %v", len(w), err)
	}
	if _, err := readLines(broken{}, "", &request{}); err == nil || !strings.Contains(err.Error(), "line 1: lost") {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("lost") }

func FuzzReadLines(f *testing.F) {
	f.Add(`{"service": "s", "arguments": {"a": 1}, "walltime": "90s"}`)
	f.Add(`{"width": 2}` + "\n" + `{"labels": {"a": "b"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := readLines(strings.NewReader(text), "s", &request{})
		if err != nil && len(entries) > 0 || err == nil && len(entries) == 0 {
			t.Fatalf("%d requests, %v", len(entries), err)
		}
		for _, w := range entries {
			for _, a := range w.request.Args {
				if name, _, ok := strings.Cut(a, "="); !ok || name == "" {
					t.Fatalf("argument %q", a)
				}
			}
		}
	})
}

func TestParseRange(t *testing.T) {
	for text, want := range map[string][]int{
		"7": {7}, "1-4": {1, 2, 3, 4}, "0-9:4": {0, 4, 8}, "1,5-6,9": {1, 5, 6, 9}, "3-3": {3}, "1-2:9": {1},
		"2147483646-2147483647": {2147483646, 2147483647},
	} {
		if got, err := parseRange(text, 10); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "a", "1-", "-1", "1--2", "4-1", "1-4:0", "1-4:", "1-4:-1", "7:2", "1,1", "5,1", "1-5,5", "1-11", "1-6,7-11",
		"1, 2", "1-2-3", "0-2147483648", "0-2147483647", "+1",
	} {
		if got, err := parseRange(text, 10); err == nil {
			t.Errorf("%q is parsed as %v", text, got)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"1-100", "0-90:10", "1,5-9", "7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseRange(text, 100)
		if err == nil && (len(list) == 0 || len(list) > 100) {
			t.Fatalf("%q: %v", text, list)
		}
		for i := 1; i < len(list); i++ {
			if list[i] <= list[i-1] {
				t.Fatalf("%q: %v", text, list)
			}
		}
	})
}

func TestListsOfALineBecomeArrayText(t *testing.T) {
	for text, want := range map[string]string{
		`[1, 2.50, -3e2]`:  "1,2.50,-3e2",
		`[[1, 2], [3, 4]]`: "1,2;3,4",
		`[[1], [2]]`:       "1;2",
		`[7]`:              "7",
	} {
		if got, err := textOf(json.RawMessage(text)); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		`[]`, `[[]]`, `[[[1]]]`, `[1, [2]]`, `[[1], 2]`, `[true]`, `["1"]`, `[null]`, `{}`, `[[[1],[2]]]`,
	} {
		if got, err := textOf(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), "accepted: ") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
