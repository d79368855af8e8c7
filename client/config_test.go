package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// written returns the path of a file with this content.
func written(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const wholeConfig = `version: 1
agents: [http://a:1, http://b:2]
patience: 3s
long_patience: 1h
call_timeout: 250ms
owner: ada
`

func TestAConfigurationFileSetsEveryField(t *testing.T) {
	got, err := ReadConfig(written(t, wholeConfig))
	want := Config{
		Agents: []string{"http://a:1", "http://b:2"}, Patience: 3 * time.Second, LongPatience: time.Hour,
		CallTimeout: 250 * time.Millisecond, Owner: "ada",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = ReadConfig(written(t, "version: 1\nagents: [http://a:1]\n"))
	if diff := cmp.Diff(Default("http://a:1"), got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestAMissingConfigurationFileIsRecognized(t *testing.T) {
	_, err := ReadConfig(filepath.Join(t.TempDir(), "none.yaml"))
	if e, ok := errors.AsType[*ConfigError](err); !ok || !errors.Is(e, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestProblemsOfAConfigurationFileNameTheirLines(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    []string
	}{
		"every problem at once": {
			"version: 2\nagents: [http://a:1, ftp://b]\npatience: -1s\ncall_timeout: 1ns\nlong_patience: soon\n" +
				"more: 1\n",
			[]string{
				"line 1: version", "line 2: agents[1]", "line 3: patience", "line 4: call_timeout",
				"line 5: long_patience", "line 6: more: unknown key",
			},
		},
		"nothing":        {"", []string{"version", "agents"}},
		"no agents":      {"version: 1\n", []string{"agents"}},
		"no YAML":        {"version: [1\n", []string{"YAML"}},
		"a list":         {"[1]\n", []string{"agents"}},
		"two documents":  {wholeConfig + "---\n" + wholeConfig, []string{"more than one document"}},
		"far too large":  {strings.Repeat("# \n", mostConfig/2), []string{"bytes, accepted: at most"}},
		"agents by name": {"version: 1\nagents: {a: b}\n", []string{"line 2: agents"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadConfig(written(t, tc.content))
			if _, ok := errors.AsType[*ConfigError](err); !ok {
				t.Errorf("%v (%T)", err, err)
			}
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v\ndoes not say %q", err, part)
				}
			}
		})
	}
	_, err := ReadConfig(t.TempDir())
	if _, ok := errors.AsType[*ConfigError](err); !ok || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
}

func TestTheEnvironmentNamesTheGrid(t *testing.T) {
	path := written(t, wholeConfig)
	for name, tc := range map[string]struct {
		environment map[string]string
		agents      []string
		owner       string
		missing     bool
	}{
		"nothing": {nil, []string{LocalAgent}, "", false},
		"agents": {
			map[string]string{EnvironmentAgents: "http://x:1,http://y:2"},
			[]string{"http://x:1", "http://y:2"},
			"",
			false,
		},
		"a file": {
			map[string]string{EnvironmentConfig: path}, []string{"http://a:1", "http://b:2"}, "ada", false,
		},
		"a file, with other agents": {
			map[string]string{EnvironmentConfig: path, EnvironmentAgents: "http://x:1"},
			[]string{"http://x:1"},
			"ada",
			false,
		},
		"a file that is not there": {map[string]string{EnvironmentConfig: path + "2"}, nil, "", true},
		"an empty one of either kind": {
			map[string]string{EnvironmentConfig: "", EnvironmentAgents: ""}, []string{LocalAgent}, "", false,
		},
	} {
		got, err := Environment(func(name string) string { return tc.environment[name] })
		if errors.Is(err, fs.ErrNotExist) != tc.missing || (err != nil) != tc.missing ||
			!cmp.Equal(got.Agents, tc.agents) || got.Owner != tc.owner {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestTheConfigurationFileInTheDocumentationIsValid(t *testing.T) {
	text, err := os.ReadFile("../docs/gridrpc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	got, err := ParseConfig([]byte(example))
	want := Default("http://127.0.0.1:7410")
	want.Owner = "ada"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		wholeConfig, "", "version: 1\nagents: [1]\n", "a: &a [*a]\n",
		"version: 1\nagents: [http://a:1]\npatience: 9999999h\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig(data)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("was read, and is refused: %v", err)
		}
	})
}
