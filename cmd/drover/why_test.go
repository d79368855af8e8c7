package main

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
)

func TestWhySaysHowAJobReachedAnotherSite(t *testing.T) {
	moved := client.Move{From: "lyon", To: "nancy", State: client.MoveMoved, Reason: "reallocation (regular, mct)"}
	tried := client.Move{From: "nancy", To: "metz", State: client.MoveAborted, Reason: "by hand"}
	for want, moves := range map[string][]client.Move{
		"now at nancy: lyon could not be reached, or did not accept the job": {tried},
		"now at nancy: moved from lyon, reallocation (regular, mct)":         {moved, tried},
		"now at nancy: moved from metz, drain": {
			moved, {From: "metz", To: "nancy", State: client.MoveMoved, Reason: "drain"},
		},
	} {
		if got := strings.Join(sinceDecision(&client.Job{Site: "nancy", Moves: moves}, "lyon"), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
