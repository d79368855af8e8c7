package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// The idle site looks best for every job, but lacks the program.
func TestJobsLeaveASiteThatLacksTheirProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fit"), []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	site := func(processors int, program string) string {
		return fmt.Sprintf(`
nodes: [{processors: %d}]
services:
  inline: [{name: fit, doc: Fits., command: [%s], model: {fixed: {width: 1, time: 1s}}}]
`, processors, filepath.Join(dir, program))
	}
	g := startGridOf(t, map[string]string{"lyon": site(40, "missing"), "nancy": site(2, "fit")})
	c, err := client.New(client.Default(g.agent))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var ids []string
	for range 40 {
		j, err := c.Submit(t.Context(), "fit")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, j.ID)
	}
	for _, id := range ids {
		j, err := c.Wait(t.Context(), id)
		if err != nil || j.State != client.Done || j.Site != "nancy" {
			t.Fatalf("job %s at %s is %v: %+v, %v", id, j.Site, j.State, j.Outcome, err)
		}
	}
	for _, command := range []string{"sites", "services"} {
		if out := g.must(t, cmdline.ExitOK, command); !strings.Contains(out, "withdrawn") {
			t.Errorf("drover %s: %s", command, out)
		}
	}
	if out := g.must(t, cmdline.ExitOK, "sites"); !strings.Contains(out,
		"fit withdrawn: command missing: no such file") {
		t.Errorf("drover sites: %s", out)
	}
}
