package lublin

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// golden are workloads whose every byte is kept: first lines in testdata, all in
// a checksum. They are to be the same on every processor and with every version
// of Go; a change of them is a change of what published seeds mean.
var golden = map[string]Config{
	"undivided": {Jobs: 100_000, Procs: 256, Seed: 1},
	"divided":   {Jobs: 100_000, Procs: 128, Seed: 2, Load: 0.9, Classes: Divided, Users: 40},
	"estimates": {
		Days: 300, Procs: 100, Seed: 3, Load: 0.7, Classes: Batch, Estimates: Estimates{Kind: Uniform, Factor: 5},
	},
}

func TestGoldenWorkloadsStayTheSameBytes(t *testing.T) {
	for name, c := range golden {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			if err := swf.Write(&text, generate(t, c)); err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfterN(text.String(), "\n", 41)
			sum := sha256.Sum256([]byte(text.String()))
			got := strings.Join(lines[:40], "") + "; sha256 of all: " + hex.EncodeToString(sum[:]) + "\n"
			path := filepath.Join("testdata", name+".swf")
			if *rewrite {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Error(cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
			}
		})
	}
}
