package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADaemonListensBeyondLoopbackOnlyWithInsecure(t *testing.T) {
	good := Config{Name: "a1", Dir: "/d", Listen: "127.0.0.1:0"}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string // beginning of the only problem; "" for none
	}{
		"loopback":                  {func(*Config) {}, ""},
		"beyond":                    {func(c *Config) { c.Listen = "10.0.0.1:1" }, `listen: "10.0.0.1:1"`},
		"beyond loopback, insecure": {func(c *Config) { c.Listen, c.Insecure = "10.0.0.1:1", true }, ""},
		"anywhere":                  {func(c *Config) { c.Listen = ":1" }, `listen: ":1"`},
		"no port":                   {func(c *Config) { c.Listen = "10.0.0.1" }, `listen: "10.0.0.1"`},
		"no name":                   {func(c *Config) { c.Name = "" }, "name: "},
		"a path":                    {func(c *Config) { c.Name = "a/b" }, "name: "},
		"a leading dash": {func(c *Config) {
			c.Name = "-a"
		}, `name: "-a", accepted: 1 to 63 letters, digits, '-' and '_', the first a letter or digit`},
		"a site":               {func(c *Config) { c.Site = "lyon.example" }, ""},
		"an invalid site name": {func(c *Config) { c.Site = "a/b" }, `site: "a/b"`},
		"no directory":         {func(c *Config) { c.Dir = "" }, "dir: "},
		"processors":           {func(c *Config) { c.Processors = -1 }, "processors: "},
		"memory":               {func(c *Config) { c.Memory = -1 }, "memory: "},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			err := cfg.Validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTheOwnerFileIsReadAsWritten(t *testing.T) {
	dir := t.TempDir()
	if o, err := readOwner(dir); o != (Owner{}) || err != nil {
		t.Errorf("unclaimed: %+v, %v", o, err)
	}
	want := Owner{Site: "lyon", ID: `a "b"`}
	if err := writeOwner(dir, want); err != nil {
		t.Fatal(err)
	}
	if o, err := readOwner(dir); o != want || err != nil {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{"", "{", `{"v":2,"site":"a","id":"b"}`, `{"v":1,"site":"a"}`} {
		if err := os.WriteFile(filepath.Join(dir, ownerName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readOwner(dir); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
