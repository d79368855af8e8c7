package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

const full = `# an agent
version: 1
name: paris
listen: 127.0.0.1:0
url: http://paris.example:80
gossip:
  bind: localhost:7946
  seeds: ["10.0.0.1:7946"]
  rejoin: 3s
patience: 500ms
poll: 4s
remember: 5000
drain: {at_once: 2, retry: 7s}
reallocation:
  period: 30m
  algorithm: all-cancellation
  heuristic: maxrelgain
  window: all
  threshold: 5s
  least_gain: 10s
  most_moves: 4
  most_moves_round: 9
  patience: off
network:
  bandwidth: 125MB/s
  latency: 2ms
  links:
    - {from: lyon, to: nancy, bandwidth: 1GiB/s}
insecure: false
`

func TestConfigurationIsReadOverTheDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Version: 1, Name: "paris", Listen: "127.0.0.1:0", URL: "http://paris.example:80",
		Gossip:   Gossip{Bind: "localhost:7946", Seeds: []string{"10.0.0.1:7946"}, Rejoin: 3 * time.Second},
		Patience: 500 * time.Millisecond,
		Poll:     4 * time.Second,
		Remember: 5000,
		Drain:    Drain{AtOnce: 2, Retry: 7 * time.Second},
		Reallocation: Reallocation{
			Period: "30m", Algorithm: "all-cancellation", Heuristic: "maxrelgain", Window: "all",
			Threshold: 5 * time.Second,
			LeastGain: 10 * time.Second, MostMoves: 4, MostMovesRound: 9, Patience: "off",
		},
		Network: Network{
			Bandwidth: 125e6, Latency: 2 * time.Millisecond,
			Links: []Link{{From: "lyon", To: "nancy", Bandwidth: 1 << 30}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got, err = ParseConfig([]byte("version: 1"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Default(), got); d != "" {
		t.Errorf("a file without settings is not the default: %s", d)
	}
}

func TestValidateReportsEveryProblemWithLineAndKey(t *testing.T) {
	_, err := ParseConfig([]byte(`version: 2
name: "a b"
listen: 0.0.0.0:7410
url: ftp://x
gossip:
  bind: nowhere
  seeds:
    - 127.0.0.1:1
    - 127.0.0.1:99999
  rejoin: 1ms
patience: 1h
poll: 1h
remember: 0
drain:
  at_once: 1001
  retry: 0s
reallocation: {period: 100ms, algorithm: best, heuristic: best, window: 0, threshold: -1s, least_gain: -1s, most_moves: -1, most_moves_round: -1, patience: -1}
network:
  latency: -1s
  links:
    - to: ""
    - {from: a, to: b, latency: -2s}
    - {from: a, to: b}
`))
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		at, _, _ := strings.Cut(strings.TrimPrefix(line, "agent configuration: "), `: "`)
		got = append(got, at)
	}
	want := []string{
		"line 1: version", "line 2: name", "line 3: listen", "line 4: url", "line 6: gossip.bind",
		"line 9: gossip.seeds[1]", "line 10: gossip.rejoin", "line 11: patience", "line 12: poll", "line 13: remember",
		"line 15: drain.at_once", "line 16: drain.retry", "line 17: reallocation.period",
		"line 17: reallocation.algorithm", "line 17: reallocation.heuristic", "line 17: reallocation.window",
		"line 17: reallocation.threshold", "line 17: reallocation.least_gain", "line 17: reallocation.most_moves",
		"line 17: reallocation.most_moves_round", "line 17: reallocation.patience", "line 19: network.latency",
		"line 21: network.links[0].to", "line 22: network.links[1].latency", "line 23: network.links[2].to",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var f *FieldError
	if !errors.As(err, &f) || f.Key != "version" || f.Accepted != "1" {
		t.Errorf("not typed: %+v", f)
	}
}

func TestRoundsRunByDefaultAndCanBeDisabled(t *testing.T) {
	for _, c := range []struct {
		text   string
		period batch.Duration
		want   string // of a problem
	}{
		{"", batch.Hour, ""},
		{"reallocation: {heuristic: minmin}", batch.Hour, ""},
		{"reallocation: {period: 90s}", 90 * batch.Second, ""},
		{"reallocation: {period: 0}", 0, ""},
		{"reallocation: {period: 0s}", 0, ""},
		{"reallocation: {period: off}", 0, ""},
		{
			"reallocation: {period: often}", 0,
			`reallocation.period: "often", accepted: 1s..8784h0m0s, or 0 or off for rounds only on demand`,
		},
		{"reallocation: {period: 20}", 0, `reallocation.period: "20", accepted: 1s`},
		{
			"reallocation: {algorithm: greedy}", 0,
			`reallocation.algorithm: "greedy", accepted: regular, all-cancellation`,
		},
		{
			"reallocation: {heuristic: MCT}", 0,
			`reallocation.heuristic: "MCT", accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain`,
		},
		{"reallocation: {window: many}", 0, `reallocation.window: "many", accepted: at least 1, or all`},
		{"reallocation: {patience: endless}", 0, `reallocation.patience: "endless", accepted: 0 or more, or off`},
	} {
		cfg, err := ParseConfig([]byte("version: 1\n" + c.text))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q in it", c.text, err, c.want)
			}
			continue
		}
		core, period, wrong := cfg.Reallocation.rounds()
		if err != nil || period != c.period || len(wrong) > 0 || core.Validate() != nil {
			t.Errorf("%s: every %v, %+v, %v %v", c.text, period, core, err, wrong)
		}
	}
	defaults := Default()
	core, _, _ := defaults.Reallocation.rounds()
	if d := cmp.Diff(reallocation.Default, core); d != "" {
		t.Errorf("the default is not the core's: %s", d)
	}
}

func TestBadFilesAreRefusedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "version: 1\ncolour: red\n", "line 2: colour: unknown key, accepted: version, name, "},
		{"unknown inner key", "version: 1\ngossip:\n  seed: x\n", "line 3"},
		{"wrong type", "version: 1\npatience: soon\n", `line 2: patience: "soon", accepted: a time with its unit`},
		{
			"rate without unit", "version: 1\nnetwork:\n  bandwidth: 5\n",
			`line 3: network.bandwidth: "5", accepted: a rate`,
		},
		{"negative rate", "version: 1\nnetwork:\n  bandwidth: -5MB\n", "line 3"},
		{"endless rate", "version: 1\nnetwork:\n  bandwidth: 1e300GB\n", "line 3"},
		{"rate that is no number", "version: 1\nnetwork:\n  bandwidth: nanGB\n", "line 3"},
		{"twice", "version: 1\nname: a\nname: b\n", "line 3"},
		{"no version", "name: a\n", "version"},
		{"empty", "", "version"},
		{"two documents", "version: 1\n---\nversion: 1\n", "more than one document"},
	} {
		if _, err := ParseConfig([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestListeningBeyondLoopbackNeedsInsecure(t *testing.T) {
	for address, loopback := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "127.3.2.1:1": true,
		"0.0.0.0:1": false, ":1": false, "[::]:1": false, "10.0.0.1:1": false, "example.org:1": false,
		"localhost.example.org:1": false,
	} {
		c := Default()
		c.Listen = address
		if err := c.Validate(); (err == nil) != loopback {
			t.Errorf("listen %s: %v", address, err)
		}
		c = Default()
		c.Gossip.Bind = address
		if err := c.Validate(); (err == nil) != loopback {
			t.Errorf("gossip %s: %v", address, err)
		}
		c.Listen, c.Insecure = address, true
		if err := c.Validate(); err != nil {
			t.Errorf("insecure %s: %v", address, err)
		}
	}
	if _, err := New(Config{Version: 1, Listen: "0.0.0.0:0"}); err == nil {
		t.Error("New took a configuration that is not valid")
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("version: 1\nnetwork: &a {links: [{from: *a}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig(data)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("accepted and not valid: %v", err)
		}
	})
}
