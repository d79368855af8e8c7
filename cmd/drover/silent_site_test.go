package main

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// All agents restart while the site of a job is down: they learn of it from the other site.
func TestAJobAtASilentSiteIsNotUnknownToRestartedAgents(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	id := m.must(t, cmdline.ExitOK, "submit", "exec", `argv=["sleep","2"]`)
	site := m.shown(t, id).GetSite()
	m.chaos.kill(m.byName[site])
	for _, a := range m.chaos.agents {
		m.chaos.kill(a)
	}
	for _, a := range m.chaos.agents {
		m.chaos.start(a)
	}
	want := "may be at " + site + ", which does not answer"
	for begun := time.Now(); ; {
		code, _, text := m.try("job", id)
		if code == cmdline.ExitUnavailable && strings.Contains(text, want) {
			break
		}
		if code != cmdline.ExitUnavailable || time.Since(begun) > time.Minute {
			t.Fatalf("drover job: exit code %d: %s", code, text)
		}
	}
	for _, command := range [][]string{{"cancel", id}, {"move", id}, {"logs", id}} {
		if code, _, text := m.try(append([]string{"--patience", "1s"},
			command...)...); code != cmdline.ExitUnavailable || !strings.Contains(text, want) {
			t.Errorf("drover %s: exit code %d: %s", command[0], code, text)
		}
	}
	waited := make(chan string)
	go func() {
		code, _, text := m.try("wait", id)
		if code != cmdline.ExitOK {
			t.Errorf("drover wait: exit code %d: %s", code, text)
		}
		waited <- text
	}()
	m.chaos.start(m.byName[site])
	<-waited
}

// A site that an operator forgets at one agent is forgotten at all of them: its jobs count as unknown.
func TestAForgottenSiteIsForgottenByAllAgents(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	if code, _, text := m.try("forget", "lyon", "--yes"); code == cmdline.ExitOK || !strings.Contains(text, "answers") {
		t.Errorf("a site that answers: exit code %d: %s", code, text)
	}
	id := m.must(t, cmdline.ExitOK, "submit", "exec", `argv=["true"]`, "--site", "lyon", "--begin", "1h")
	m.chaos.kill(m.byName["lyon"])
	await := func(agent *victim, code int, args ...string) {
		t.Helper()
		g := &grid{agent: agent.url}
		for begun := time.Now(); ; {
			got, _, text := g.try(args...)
			if got == code {
				return
			}
			if time.Since(begun) > time.Minute {
				t.Fatalf("%s: drover %s: exit code %d: %s", agent.name, strings.Join(args, " "), got, text)
			}
		}
	}
	for _, a := range m.chaos.agents { // each remembers the job
		g := &grid{agent: a.url}
		g.until(t, func() bool {
			_, out, _ := g.try("job", id)
			return strings.Contains(out, "unknown for")
		})
	}
	await(m.first, cmdline.ExitOK, "forget", "lyon", "--yes")
	for _, a := range m.chaos.agents {
		await(a, cmdline.ExitNotFound, "job", id)
	}
}
