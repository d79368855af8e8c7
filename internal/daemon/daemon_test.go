package daemon

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestTailKeepsTheEnd(t *testing.T) {
	var log tail
	for range 1000 {
		if n, err := log.Write([]byte("0123456789")); n != 10 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = log.Write([]byte("the end"))
	if s := log.String(); len(s) != tailLength || s[len(s)-8:] != "9the end" {
		t.Errorf("%d bytes: ...%s", len(s), s[len(s)-8:])
	}
}

func TestWaitReturnsTheAnnouncedAddresses(t *testing.T) {
	p, err := Start("lyon", exec.CommandContext(t.Context(), "sh", "-c",
		`echo '{"name": "lyon", "url": "http://a", "gossip": "b:1"}'; exec sleep 300`))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if p.URL != "http://a" || p.Gossip != "b:1" {
		t.Errorf("announced %+v", p.Announcement)
	}
	p.End(time.Minute)
	if p.Succeeded() {
		t.Error("a process that SIGTERM ended succeeded")
	}
}

func TestWaitReportsTheLogOfAProcessThatEnds(t *testing.T) {
	p, err := Start("lyon", exec.CommandContext(t.Context(), "sh", "-c", "echo no disk >&2; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	err = p.Wait(t.Context(), time.Minute)
	if err == nil || !strings.Contains(err.Error(), "lyon has ended: exit status 3, last output:\nno disk") {
		t.Errorf("error %v", err)
	}
}

func TestEndKillsAProcessThatIgnoresSIGTERM(t *testing.T) {
	p, err := Start("lyon", exec.CommandContext(t.Context(), "sh", "-c",
		`trap "" TERM; echo '{}'; while :; do sleep 0.05; done`))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	p.End(100 * time.Millisecond)
	if err := p.Err(); !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v", err)
	}
}
