package main

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestAGridWithoutSitesIsReported(t *testing.T) {
	cfg := agent.Default()
	cfg.Listen, cfg.Gossip.Bind = "127.0.0.1:0", "127.0.0.1:0"
	a, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	g := &grid{agent: a.URL()}
	for _, tc := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"sites", cmdline.ExitOK, "no site known yet\nhint: "},
		{"services", cmdline.ExitOK, "no service known yet"},
		{"--patience 1s submit sleep", cmdline.ExitUnavailable, "no site has joined this agent\nhint: "},
		{"--patience 1s submit sleep seconds=1", cmdline.ExitUnavailable, "no site has joined this agent\nhint: "},
	} {
		p, out, stderr := inProcess(g, strings.Fields(tc.args)...)
		if code := run(p); code != tc.code || out.Len() > 0 || !strings.Contains(stderr.buf.String(), tc.stderr) {
			t.Errorf("%s: exit code %d: %s%s", tc.args, code, out, stderr.buf.String())
		}
	}
}
