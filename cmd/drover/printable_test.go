package main

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestControlCharactersOfOtherUsersAreReplaced(t *testing.T) {
	const evil = "a\x1b[31mb\r\nc\u202ed\u009b"
	if got, want := cmdline.Printable(evil), "a\ufffd[31mb\ufffd\ufffdc\ufffdd\ufffd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := cmdline.Printable("é 日本 a-b_c"), "é 日本 a-b_c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	var out strings.Builder
	tab := cmdline.NewTable(&out, table.Row{"site", "note"})
	tab.AppendRow(table.Row{evil, 3})
	tab.AppendRow(candidateRow(&client.Candidate{Site: evil, Missing: &client.Missing{Reason: evil}}, evil))
	tab.Render()
	out.WriteString(strings.Join(sinceDecision(&client.Job{Site: evil, Awaits: []string{evil}}, evil+"x"), ""))
	if got := out.String(); strings.ContainsAny(got, "\x1b\r\u202e\u009b") {
		t.Errorf("%q", got)
	}
}
