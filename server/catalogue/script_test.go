package catalogue

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestParseScriptKeepsOptionsThatNeitherDroverNorTheSiteSets(t *testing.T) {
	s, err := ParseScript(`#!/bin/bash -l
# What it is for.
#SBATCH --ntasks=16 --time 2:00:00
#SBATCH -N1 -J old_name -o out.%j   # as it was
#SBATCH --mem-per-cpu=2G
#SBATCH --constraint="big mem|fat"
#SBATCH --exclusive
#SBATCH -p short --mail-type=END
#SBATCH --nta 4

echo "$SLURM_NTASKS"
#SBATCH --gres=gpu:1
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--nodes=1", "--mem-per-cpu=2G", "--constraint=big mem|fat", "--exclusive", "--mail-type=END"}
	if diff := cmp.Diff(want, s.Options); diff != "" {
		t.Error(diff)
	}
	notes := []string{
		"line 3 of the script: --ntasks=16 is ignored: the width that Drover chooses wins",
		"line 3 of the script: --time=2:00:00 is ignored: the walltime that Drover chooses wins",
		"line 4 of the script: --job-name=old_name is ignored: Drover sets it",
		"line 4 of the script: --output=out.%j is ignored: Drover sets it",
		"line 7 of the script: --exclusive: kept, but estimates count the processors of the width only",
		"line 8 of the script: --partition=short is ignored: the site's configuration sets it",
		"line 9 of the script: --ntasks=4 is ignored: the width that Drover chooses wins",
		"line 12 of the script: #SBATCH --gres=gpu:1: after the first command, where Slurm ignores it",
	}
	if diff := cmp.Diff(notes, s.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestParseScriptRefusesUnusableScripts(t *testing.T) {
	for name, c := range map[string]struct{ text, why string }{
		"no interpreter": {"echo hello\n", "accepted: #! and an interpreter"},
		"an array": {
			"#!/bin/sh\n#SBATCH -a 1-10\n",
			"line 2 of the script: --array=1-10: a service runs one job",
		},
		"an abbreviated array option": {
			"#!/bin/sh\n#SBATCH --ar=1-10\n",
			"line 2 of the script: --array=1-10: a service runs one job",
		},
		"another program": {
			"#!/bin/sh\n#SBATCH --wr=date\n",
			"line 2 of the script: --wrap=date: the script is the program",
		},
		"heterogeneous": {
			"#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n",
			"line 3 of the script: a heterogeneous job",
		},
		"an open quote":                {"#!/bin/sh\n#SBATCH --comment='a\n", "unclosed quote"},
		"a word that is not an option": {"#!/bin/sh\n#SBATCH ntasks=4\n", `"ntasks=4", accepted: an option`},
		"an unknown letter": {
			"#!/bin/sh\n#SBATCH -Z\n", `unknown option "-Z", accepted: the options of sbatch`,
		},
		"carriage returns": {"#!/bin/sh\r\n", "carriage return"},
		"a NUL":            {"#!/bin/sh\n\x00", "accepted: text"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseScript(c.text); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, want %s", err, c.why)
			}
		})
	}
}

func TestAOneNodeScriptIsNoWiderThanTheLargestNode(t *testing.T) {
	for options, want := range map[string]int32{"--nodes=1": 4, "-N 1-1": 4, "--nodes=2": 8, "--exclusive": 8} {
		text := `version: 1
services:
  - name: old
    doc: A script of before.
    script: "#!/bin/sh\n#SBATCH ` + options + `\n"
    model: {amdahl: {work: 60s, parallel: 1}}
`
		c, err := Load(strings.NewReader(text), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		c.OnOneNode(4)
		s := c.Services()[0]
		v, err := s.Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		shapes, err := s.Shapes(v, Want{}, 8, Reference)
		if err != nil || shapes[len(shapes)-1].Width != want {
			t.Errorf("%s: %v, %v, want up to %d", options, shapes, err, want)
		}
		if _, err := s.Shapes(v, Want{Width: 5}, 8, Reference); (err != nil) != (want < 5) {
			t.Errorf("%s, width 5: %v", options, err)
		}
	}
}

const scripted = `version: 1
services:
  - name: old
    doc: A script of before.
    args: [{name: text, type: string}]
    script: %s
    command: ["{text}", "{width}"]
    model: {fixed: {width: 2, time: 60s}}
`

func TestScriptServicesRunTheScriptWithItsInterpreter(t *testing.T) {
	files := func(name string) ([]byte, error) {
		if name != "old.sh" {
			return nil, errors.New("no such file")
		}
		return []byte("#!/usr/bin/env -S bash -e\n#SBATCH --mem-per-cpu=500\n"), nil
	}
	c, err := LoadWith(strings.NewReader(strings.Replace(scripted, "%s", "old.sh", 1)), "c.yaml", files)
	if err != nil {
		t.Fatal(err)
	}
	service := c.Services()[0]
	v, err := service.Bind(map[string]Value{"text": Text("a b")})
	if err != nil {
		t.Fatal(err)
	}
	got := service.Args(v, Launch{Shape: batch.Shape{Width: 2}, Script: "/data/old"})
	if want := []string{"/usr/bin/env", "-S bash -e", "/data/old", "a b", "2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if service.Memory != 500<<20 {
		t.Errorf("memory %d: want the script's --mem-per-cpu", service.Memory)
	}
	if _, err := LoadWith(strings.NewReader(strings.Replace(scripted, "%s", "new.sh", 1)), "c.yaml",
		files); err == nil || !strings.Contains(err.Error(), "c.yaml:6: services[0].script: no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestTheServicesMemoryReplacesTheScriptsMemoryOptions(t *testing.T) {
	text := strings.Replace(scripted, "%s", "|\n      #!/bin/sh\n      #SBATCH --mem=4G\n    memory: 1GiB", 1)
	c, err := Load(strings.NewReader(text), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Services()[0]
	if s.Memory != 1<<30 || len(s.Script.Options) != 0 || !slices.Equal(s.Script.Notes,
		[]string{"--mem=4G is ignored: the memory of the service wins"}) {
		t.Errorf("memory %d, options %q, notes %q", s.Memory, s.Script.Options, s.Script.Notes)
	}
}

func FuzzScript(f *testing.F) {
	f.Add("#!/bin/sh\n#SBATCH -N1 --x='a b' -Hk --time=1 # c\n#SBATCH --mem 3\\ 4\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript(text)
		if err != nil {
			return
		}
		for _, o := range s.Options {
			name, _, _ := strings.Cut(o, "=")
			if r := rulings[strings.TrimPrefix(name, "--")]; !strings.HasPrefix(o, "--") ||
				(r.why != "" || r.refused != "") && o != "--nodes=1" {
				t.Fatalf("option %q is kept", o)
			}
		}
	})
}
