package main

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
)

func TestWhyTellsHowAJobCameToAnotherSite(t *testing.T) {
	moved := client.Move{From: "lyon", To: "nancy", State: client.MoveMoved, Reason: "reallocation (regular, mct)"}
	tried := client.Move{From: "nancy", To: "metz", State: client.MoveAborted, Reason: "by hand"}
	for want, moves := range map[string][]client.Move{
		"lyon could not be reached, or did not take it":       {tried},
		"it was moved from lyon, reallocation (regular, mct)": {moved, tried},
		"it was moved from metz, drain":                       {moved, {From: "metz", To: "nancy", State: client.MoveMoved, Reason: "drain"}},
	} {
		if got := sinceThen(&client.Job{Site: "nancy", Moves: moves}, "lyon"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
