package main

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/agent"
)

// shellBlocks matches the commands in a document.
var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

func TestTheCommandsOfTheHTTPDocumentationWork(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s in PATH: the commands of docs/http.md are NOT tested here (apt-get install bash curl jq)",
				tool)
		}
	}
	services, err := filepath.Abs("../../server/services")
	if err != nil {
		t.Fatal(err)
	}
	g := startGrid(t)
	for _, document := range []struct {
		path string
		says []string // parts of the commands' output
	}{
		{"README.md", []string{"mandelbrot: Renders a view", `"state":"JOB_STATE_`}},
		{"docs/http.md", []string{
			`"name":"lyon"`, `"state":"JOB_STATE_DONE"`, `"outcome":{}`, "threads", `"sizeBytes":"36170"`,
			`{"declaredCpu":1`, `"element":"ELEMENT_TYPE_FLOAT64","dimensions":["1","1"]`, "                5\n",
			"ESTIMATE_KIND_", `"mode":"DATA_MODE_STICKY"`, `["`,
		}},
	} {
		t.Run(document.path, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../..", document.path))
			if err != nil {
				t.Fatal(err)
			}
			script := "set -euo pipefail\n"
			for _, block := range shellBlocks.FindAllSubmatch(text, -1) {
				script += string(block[1])
			}
			local := "http://" + agent.Default().Listen
			if !strings.Contains(script, local) {
				t.Fatalf("no commands for %s in\n%s", local, script)
			}
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "server"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(services, filepath.Join(dir, "server", "services")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(script, local, g.agent))
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			// The whitespace in a JSON answer is not specified.
			said := strings.ReplaceAll(string(out), `": "`, `":"`)
			for _, want := range document.says {
				if !strings.Contains(said, want) {
					t.Errorf("no %s in the output:\n%s", want, out)
				}
			}
			picture, err := os.ReadFile(filepath.Join(dir, "picture.png"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
				t.Errorf("the picture: %v", err)
			}
		})
	}
}
