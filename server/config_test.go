package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// example is the directory of the example files.
const example = "../docs/examples"

func TestServerExamplesStart(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(example, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\nnodes:") {
			continue // an agent's configuration or a catalogue
		}
		cfg, err := ReadConfig(name)
		if err != nil {
			t.Error(err)
			continue
		}
		cfg.DataDir, cfg.Listen, cfg.URL, cfg.Gossip = t.TempDir(), "127.0.0.1:0", "", Gossip{Bind: "127.0.0.1:0"}
		if err := start(t, cfg).stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		started++
	}
	if started < 3 {
		t.Errorf("%d examples in %s, want at least 3", started, example)
	}
}

func TestEveryKeyExampleIsParsedCompletely(t *testing.T) {
	cfg, err := ReadConfig(filepath.Join(example, "server-every-key.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range cfg.platform().Nodes {
		names = append(names, n.Name)
	}
	if diff := cmp.Diff([]string{"big1", "big2", "small", "n4", "n5"}, names); diff != "" {
		t.Error(diff)
	}
	want := Limits{
		Width: 8, File: 1 << 30, Content: 16 << 30, Data: 16 << 30, DataOwner: 4 << 30, Waiting: 100_000,
		Finished: 10_000, FinishedSize: 16 << 30, FinishedFor: 7 * 24 * time.Hour, Drafts: 4, DraftLease: time.Minute,
	}
	if diff := cmp.Diff(want, cfg.Limits); diff != "" {
		t.Error(diff)
	}
	if cfg.Grace != 10*time.Second || cfg.Speed != 1.4 || cfg.Policy.Name != "easy" || cfg.Nodes[0].Memory != 8<<30 {
		t.Errorf("%+v", cfg)
	}
	if _, err := cfg.Catalogue.Service("uname"); err != nil {
		t.Error(err)
	}
	if _, err := cfg.Catalogue.Service("lu"); err != nil {
		t.Error(err)
	}
}

func TestConfigurationReportsAllErrorsWithLineAndKey(t *testing.T) {
	_, err := ParseConfig([]byte(`version: 2
name: a/b
listen: 0.0.0.0:80
url: ftp://x
gossip: {bind: nowhere, seeds: [a, "b:1"]}
nodes:
  - {processors: 0}
  - {processors: 1, coconuts: 2}
speed: -1
policy: {name: odd}
tuning: random
grace: soon
limits:
  file: 12
  waiting: 0
  finished: -1
services:
  inline:
    - name: x
      doc: x
      command: [x, "{y}"]
      model: {fixed: {width: 0, time: 1s}}
palms: 3
`), "")
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"line 1: version", "line 2: name", "line 3: listen", "insecure: true", "line 4: url", "line 5: gossip.bind",
		"line 5: gossip.seeds[0]", "line 7: nodes[0].processors",
		"line 8: nodes[1].coconuts: unknown key, accepted: name, count, processors, memory, address, score, licenses",
		"line 9: speed", "line 10: policy.name", "easy, fcfs", "line 11: tuning",
		`line 12: grace: "soon", accepted: a time`, `line 14: limits.file: "12"`, "512MiB", "line 15: limits.waiting",
		"line 16: limits.finished", "line 21: services.inline[0].command[1]",
		"line 22: services.inline[0].model.fixed.width", "line 23: palms",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "server.") {
		t.Errorf("the error names a Go type:\n%v", err)
	}
}

func TestInvalidConfigurationsAreRefused(t *testing.T) {
	const good = "version: 1\nname: a\nnodes: [{processors: 4}]\nservices: {inline: []}\n"
	const farm = "version: 1\nname: a\nnodes: [{processors: 4, score: 100, licenses: [lu]}, {processors: 2, score: " +
		"50}]\npolicy: {name: convergent}\nservices: {inline: []}\n"
	if _, err := ParseConfig([]byte(farm+"licenses: [{name: cad, copies: 2}]"), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseConfig([]byte(good), ""); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                    "version",
		"- a":                                 "line 1: configuration: got a list, accepted: a mapping",
		"a: [":                                "line 1: YAML: did not find",
		good + "---\nversion: 1":              "more than one document",
		good + "insecure: maybe":              `line 5: insecure: "maybe", accepted: true, false`,
		good + "listen: 10.0.0.1:1":           "loopback",
		good + "policy: {settings: {odd: 1}}": "policy.settings.odd",
		strings.Replace(good, "4}", "4}, {processors: 2}",
			1) + "policy: {name: dfrs}": "nodes that are all alike",
		good +
			"licenses: [{name: cad, copies: 1}]": `line 5: licenses: "1 entries", accepted: none: policy cbf`,
		farm +
			"licenses: [{name: cad}]": `licenses[0].copies: "0", accepted: 1..2147483647`,
		farm +
			"licenses: [{name: cad, copies: 1}, {name: cad, copies: 2}]": `licenses[1].name: "cad", accepted: each name once`,
		farm +
			"licenses: [{name: 'a=b', copies: 1}]": `licenses[0].name: "a=b", accepted: a word`,
		strings.Replace(farm, "score: 100", "score: 0",
			1): `line 3: nodes[0].score: "0", accepted: 1..2147483647`,
		strings.Replace(farm, "score: 100, ", "",
			1): `nodes[0].score: "missing", accepted: one for each node, or none at all`,
		strings.Replace(farm, "policy: {name: convergent}", "",
			1): `nodes[0].score: "100", accepted: none: policy cbf`,
		good + "limits: {width: 5}": "0 (all) to 4",
		good +
			"limits: {drafts: 101}": `line 5: limits.drafts: "101", accepted: 0 (no part in rounds) to 100`,
		good + "limits: {drafts: -1}": "limits.drafts",
		good + "limits: {draft_lease: " +
			"61m}": "limits.draft_lease: \"1h1m0s\", accepted: 1s..1h0m0s",
		good + "limits: {draft_lease: 0s}":         "limits.draft_lease",
		good + "limits: {file: 2MiB, content: 1B}": "limits.content",
		good + "limits: {data: -1B}":               "limits.data",
		good + "limits: {data: 1MiB, data_owner: " +
			"2MiB}": `line 5: limits.data_owner`,
		strings.Replace(good, "inline: []", "", 1): "services",
		strings.Replace(good, "inline: []", "inline: 3",
			1): "line 4: services.inline",
		strings.Replace(good, "inline: []", "catalogue: /absent",
			1): "line 4: services.catalogue",
		strings.Replace(good, "processors: 4", "name: x, count: 2000000", 1):                      "nodes[0].count",
		strings.Replace(good, "{processors: 4}", "{processors: 67108864, count: 2}", 1):           "up to",
		strings.Replace(good, "{processors: 4}", "{processors: 1}, {processors: 1, name: n1}", 1): "a unique name",
		strings.Replace(good, "[{processors: 4}]", "[]", 1):                                       "nodes",
	} {
		if _, err := ParseConfig([]byte(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	const far = "version: 1\nname: a\nnodes: [{name: a1, processors: 4, address: 'http://10.0.0.1:7470'}, {name: a2, " +
		"processors: 4, address: 'http://10.0.0.2:7470'}]\nservices: {inline: []}\n"
	if cfg, err := ParseConfig([]byte(far+"lease: 10s"), ""); err != nil || cfg.Lease != 10*time.Second ||
		!cfg.distant() {
		t.Fatal(cfg.Lease, err)
	}
	const mpi = "{inline: [{name: mpi, doc: x, command: [x], launch: LAUNCH, model: {fixed: {width: 1, time: 1s}}}]}"
	service := func(text, launch string) string {
		return strings.Replace(text, "{inline: []}", strings.Replace(mpi, "LAUNCH", launch, 1), 1)
	}
	for _, text := range []string{
		service(far, "per-node"), service(far, "per-task"), service(good, "once"),
		service(good, "per-task") + "policy: {name: dfrs}",
	} {
		if _, err := ParseConfig([]byte(text), ""); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(far, ", address: 'http://10.0.0.2:7470'", "",
			1): `nodes[1].address: "missing", accepted: one for each node, or for none`,
		strings.Replace(far, ", address: 'http://10.0.0.1:7470'", "",
			1): `nodes[1].address: "http://10.0.0.2:7470", accepted: one for each node, or for none`,
		strings.Replace(far, "a1,", "a1, count: 1,",
			1): `nodes[0].count: "1", accepted: none with an address`,
		strings.Replace(far, "a1,", "a.1,", 1): `nodes[0].name: "a.1"`,
		strings.Replace(far, "0.2:", "0.1:",
			1): `nodes[1].address: "http://10.0.0.1:7470", accepted: a unique address`,
		strings.Replace(far, "0.2:7470", "0.2",
			1): `nodes[1].address: "http://10.0.0.2", accepted: http://host:port`,
		strings.Replace(far, "0.2:7470", "0.2:7470/x", 1):              `accepted: http://host:port`,
		strings.Replace(far, "http://10.0.0.2", "https://10.0.0.2", 1): `accepted: http://host:port`,
		far + "lease: 10ms": `line 5: lease: "10ms", accepted: 1s..1h0m0s`,
		far + "lease: 2h":   `accepted: 1s..1h0m0s`,
		good + "lease: 10s": `line 5: lease: "10s", accepted: none without nodes that have an address`,
		service(good,
			"per-task"): `services.launch: "per-task of service mpi", accepted: once, where the nodes are virtual ones of this host and policy cbf gives whole processors; give the nodes addresses`,
		service(good,
			"per-node") +
			"policy: {name: dfrs}": `services.launch: "per-node of service mpi", accepted: once and per-task`,
		service("version: 1\nname: a\nbatch: {type: slurm}\nservices: {inline: []}\n",
			"per-node"): `accepted: once, under Slurm`,
	} {
		if _, err := ParseConfig([]byte(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := ParseConfig([]byte(good+"policy: {name: overbook, settings: {odd: 1, maxPoF: 2, round: 60}}"), "")
	for _, key := range []string{"odd", "maxPoF", "round"} {
		if err == nil || !strings.Contains(err.Error(), "policy.settings."+key) {
			t.Errorf("%s is not reported: %v", key, err)
		}
	}
	if _, err := ParseConfig([]byte(good+"listen: 10.0.0.1:1\ninsecure: true"), ""); err != nil {
		t.Errorf("insecure: %v", err)
	}
}

func TestCatalogueFileIsReadRelativeToTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("c.yaml", "version: 1\nservices:\n  - {name: one, doc: One., command: [one], model: {fixed: {width: 1, time: "+
		"1s}}}\n")
	head := "version: 1\nname: a\ndata_dir: d\nnodes: [{processors: 4}]\nservices:\n  catalogue: c.yaml\n"
	put("s.yaml", head+"  inline:\n    - {name: two, doc: Two., command: [two], model: {fixed: {width: 1, time: "+
		"1s}}}\n")
	cfg, err := ReadConfig(filepath.Join(dir, "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range cfg.Catalogue.Services() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"one", "two"}) || cfg.DataDir != filepath.Join(dir, "d") {
		t.Errorf("services %v in %s", names, cfg.DataDir)
	}
	put("s.yaml", head+"  inline:\n    - {name: one, doc: Two., command: [two], model: {fixed: {width: 1, time: "+
		"1s}}}\n")
	if _, err = ReadConfig(filepath.Join(dir, "s.yaml")); err == nil ||
		!strings.Contains(err.Error(), "line 8: services.inline[0].name") {
		t.Errorf("duplicate service name: %v", err)
	}
	put("c.yaml", "version: 1\nservices: 3\n")
	if _, err = ReadConfig(filepath.Join(dir, "s.yaml")); err == nil ||
		!strings.Contains(err.Error(), "c.yaml:2: services") {
		t.Errorf("invalid catalogue: %v", err)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, name := range []string{"site.yaml", "server-every-key.yaml"} {
		text, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("version: 1\nnodes: &a [*a]\nservices: {inline: [*a]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := ParseConfig(text, t.TempDir())
		if err != nil {
			return
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("ParseConfig accepted it, Validate says %v", err)
		}
		if err := cfg.platform().Validate(); err != nil && cfg.external() == nil {
			t.Errorf("platform: %v", err)
		}
	})
}

func TestValidateReturnsFieldErrors(t *testing.T) {
	cfg := Default()
	err := cfg.Validate()
	var f *FieldError
	if !errors.As(err, &f) || f.Key != "name" {
		t.Errorf("%v", err)
	}
}

func TestSlurmSiteConfiguration(t *testing.T) {
	cfg, err := ReadConfig(filepath.Join(example, "site-slurm.yaml"))
	if err != nil || cfg.external() == nil || cfg.Batch.Partition != "main" || cfg.Batch.Model.Name != "easy" {
		t.Errorf("%+v, %v", cfg.Batch, err)
	}
	const head = "version: 1\nname: lyon\nservices: {catalogue: services.yaml}\n"
	for lines, key := range map[string]string{
		"batch: {type: pbs}\nnodes: [{processors: 1}]":       "batch.type",
		"batch: {type: slurm}\nnodes: [{processors: 1}]":     "nodes",
		"batch: {partition: main}\nnodes: [{processors: 1}]": "batch",
		"batch: {type: slurm, extra: [mem]}":                 "batch.extra[0]",
		"batch: {type: slurm, extra: [--mem=2G, --array=1]}": "batch.extra[1]",
		"batch: {type: slurm, extra: [--te]}":                "batch.extra[0]",
		"batch: {type: slurm, extra: [-H]}":                  "batch.extra[0]",
		"batch: {type: slurm, program: bin/drover}":          "batch.program",
		"batch: {type: slurm, interval: 1us}":                "batch.interval",
		"batch: {type: slurm, waiting: 0}":                   "batch.waiting",
		"batch: {type: slurm, model: {name: slurm}}":         "batch.model",
		"batch: {type: slurm, model: {name: dfrs}}":          "batch.model",
		"batch: {type: slurm, partition: a b}":               "batch.partition",
	} {
		_, err := ParseConfig([]byte(head+lines), example)
		var f *FieldError
		if !errors.As(err, &f) || f.Key != key {
			t.Errorf("%s: %v, want %s", lines, err, key)
		}
	}
	cfg, err = ParseConfig(
		[]byte(head+"batch: {type: slurm, conf: etc/slurm.conf, commands: bin, extra: [-N1, --mem=2G, --exclusive]}"),
		example,
	)
	if err != nil || cfg.Batch.Conf != filepath.Join(example, "etc/slurm.conf") ||
		cfg.Batch.Commands != filepath.Join(example, "bin") {
		t.Errorf("relative paths in batch: %+v, %v", cfg.Batch, err)
	}
}

func TestExamplesKeepNoDataBelowTmp(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(example, "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "/tmp") {
			t.Errorf("%s has a path below /tmp: a reboot deletes it, and any user can create it first", name)
		}
	}
}
