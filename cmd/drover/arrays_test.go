package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestListsOfALineAreTyped(t *testing.T) {
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
	for _, text := range []string{`[]`, `[[]]`, `[[[1]]]`, `[1, [2]]`, `[[1], 2]`, `[true]`, `["1"]`, `[null]`, `{}`, `[[[1],[2]]]`} {
		if got, err := textOf(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), "accepted: ") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
