package main

import (
	"slices"
	"strings"
	"testing"
)

func TestLicensesAreReadOrRefused(t *testing.T) {
	if args, err := toHold([]string{"cad", "mesh:2"}); err != nil || len(args) != 2 {
		t.Errorf("%d, %v", len(args), err)
	}
	for text, want := range map[string]string{
		"":               `--license "", accepted: NAME, or NAME:N`,
		":2":             "accepted: NAME",
		"cad:":           "1..2147483647 copies",
		"cad:0":          "1..2147483647 copies",
		"cad:-1":         "accepted",
		"cad:two":        "accepted",
		"cad:2147483648": "accepted",
		"cad:1:2":        "accepted",
	} {
		if _, err := toHold([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := toHold([]string{"cad", "cad:2"}); err == nil || !strings.Contains(err.Error(), "cad:2") {
		t.Errorf("twice: %v", err)
	}
}

func TestALineHoldsItsLicensesOverThoseOfTheCommandLine(t *testing.T) {
	def := &request{License: []string{"cad:2", "mesh"}}
	w, err := readLine([]byte(`{"service": "draw", "licenses": {"render": 1, "cad": 3}}`), "", def)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"mesh", "cad:3", "render:1"}; !slices.Equal(w.request.License, want) {
		t.Errorf("%v, want %v", w.request.License, want)
	}
	if !slices.Equal(def.License, []string{"cad:2", "mesh"}) {
		t.Errorf("the command line's are %v now", def.License)
	}
}
