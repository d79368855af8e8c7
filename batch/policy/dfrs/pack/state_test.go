package pack

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestReadStatesReturnsTheWrittenStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		var want []State
		for range rapid.IntRange(0, 3).Draw(t, "states") {
			m, jobs := problem(t)
			if err := WriteState(&file, m, jobs); err != nil {
				t.Fatal(err)
			}
			want = append(want, State{*m, jobs})
		}
		got, err := ReadStates(&file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

func TestReadStatesNamesTheInvalidState(t *testing.T) {
	const good = `{"machine":{"nodes":1,"cpu":1048576,"memory":10},"jobs":[{"order":1,"groups":[{"tasks":1,"cpu":5,"memory":3}]}]}` + "\n"
	for name, tc := range map[string]struct{ file, want string }{
		"cut short":     {good[:40], "reading state 1: unexpected EOF"},
		"unknown field": {good + `{"machines":1}`, "reading state 2: "},
		"bad value": {
			good + strings.Replace(good, `"tasks":1`, `"tasks":0`, 1),
			"reading state 2: packing: job 0: Groups[0].Tasks is 0",
		},
		"bad machine": {
			strings.Replace(good, `"nodes":1`, `"nodes":-1`, 1), "reading state 1: packing: machine: Nodes is -1",
		},
		"no number": {
			good + strings.Replace(good, `"order":1`, `"order":"a"`, 1), "reading state 2: json: cannot unmarshal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadStates(strings.NewReader(tc.file)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteStateReturnsTheWriteError(t *testing.T) {
	if err := WriteState(fullDisk{}, &Machine{}, nil); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

// States that can be read can be packed.
func FuzzReadStates(f *testing.F) {
	f.Add(
		[]byte(
			`{"machine":{"nodes":2,"cpu":1048576,"memory":10},"jobs":[{"order":1,"groups":[{"tasks":3,"cpu":5,"memory":3}]}]}`,
		),
	)
	f.Add(
		[]byte(
			`{"machine":{"nodes":2,"cpu":1,"memory":0,"down":[true,false]},"jobs":[{"order":1,"groups":[{"tasks":1,"cpu":5,"memory":3}],"pinned":[{"node":1,"group":0,"tasks":1}],"flow":5,"virtual":7}]}`,
		),
	)
	f.Fuzz(func(t *testing.T, file []byte) {
		states, err := ReadStates(bytes.NewReader(file))
		if err != nil {
			return
		}
		var p Packer
		for i := range states {
			s := &states[i]
			if s.Machine.Nodes > 1000 || len(s.Jobs) > 100 || tasks(s.Jobs) > 10000 {
				continue
			}
			kept, _ := p.Yield(&s.Machine, s.Jobs)
			p.Stretch(&s.Machine, s.Jobs, 600_000_000)
			if kept > len(s.Jobs) {
				t.Errorf("%d jobs kept of %d", kept, len(s.Jobs))
			}
		}
	})
}

func tasks(jobs []Job) (n int64) {
	for i := range jobs {
		for _, g := range jobs[i].Groups {
			n += int64(g.Tasks)
		}
	}
	return n
}
