package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

func licenseArgs(licenses ...string) ([]client.Arg, error) {
	return (&request{License: licenses}).licenseArgs(time.Time{})
}

func TestLicensesAreParsedOrRefused(t *testing.T) {
	if args, err := licenseArgs("cad", "mesh:2"); err != nil || len(args) != 2 {
		t.Errorf("%d, %v", len(args), err)
	}
	for text, want := range map[string]string{
		"":               `--license "", accepted: NAME, or NAME:N`,
		":2":             "accepted: NAME",
		"cad:":           "N copies",
		"cad:two":        "accepted",
		"cad:2147483648": "accepted",
		"cad:1:2":        "accepted",
	} {
		if _, err := licenseArgs(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := licenseArgs("cad", "cad:2"); err == nil || !strings.Contains(err.Error(), "cad:2") {
		t.Errorf("twice: %v", err)
	}
}

func TestLicensesOfALineOverrideThoseOfTheCommandLine(t *testing.T) {
	def := &request{License: []string{"cad:2", "mesh"}}
	w, err := readLine([]byte(`{"service": "draw", "licenses": {"render": 1, "cad": 3}}`), "", def)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"mesh", "cad:3", "render:1"}; !slices.Equal(w.request.License, want) {
		t.Errorf("%v, want %v", w.request.License, want)
	}
	if !slices.Equal(def.License, []string{"cad:2", "mesh"}) {
		t.Errorf("the licenses of the command line changed to %v", def.License)
	}
}
