package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestAWaitingJobNamesTheNodesThatAreAway(t *testing.T) {
	j := &client.Job{ID: movingJob, State: client.Waiting, Site: "lyon", NodesAway: []string{"a1", "a2"}}
	var out bytes.Buffer
	showJob(&app{Process: &cmdline.Process{Stdout: &out}, flags: &cli{}}, j)
	if !strings.Contains(out.String(), "away       a1 a2\n") {
		t.Errorf("%s", out.String())
	}
	if got, want := noteText(j), "nodes away: a1 a2"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
	if text, err := json.Marshal(j); err != nil || !strings.Contains(string(text), `"nodesAway":["a1","a2"]`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestAJobShowsItsDependenciesAndRetries(t *testing.T) {
	j := &client.Job{
		ID: movingJob, State: client.Held, Site: "lyon", OnlySite: "lyon", Attempt: 2, Retries: 3, Retried: 1,
		RetryOn: []int{1, 75},
		After:   []client.Dependency{{Job: someID, Any: true}, {Job: "b"}}, Awaits: []string{someID},
	}
	var out bytes.Buffer
	showJob(&app{Process: &cmdline.Process{Stdout: &out}, flags: &cli{}}, j)
	for _, want := range []string{
		"only at    lyon\n", "after      " + someID + ", in any state (not ended)\n           b\n",
		"retries    1 of 3, after exit code 1, 75\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if got, want := noteText(j), "attempt 2, waits for "+someID+", retry 1 of 3"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
	var many client.Job
	for i := range 12 {
		id := fmt.Sprint("job", i)
		many.After, many.Awaits = append(many.After, client.Dependency{Job: id}), append(many.Awaits, id)
	}
	if lines := dependencyTexts(&many); len(lines) != maxListed+1 || lines[maxListed] != "and 2 more" {
		t.Errorf("%q", lines)
	}
	if got := awaitsText(&many); got != "waits for 12 jobs" {
		t.Errorf("%q", got)
	}
	if got := listText(many.Awaits); !strings.HasSuffix(got, " and 2 more") {
		t.Errorf("%q", got)
	}
}

func TestAJobShowsDeclaredAndMeasuredNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		needs       *client.TaskNeeds
		cpu, memory string
	}{
		"only remembered": {nil, "", ""},
		"like any job":    {&client.TaskNeeds{DeclaredCPU: 1}, "", ""},
		"not measured": {
			&client.TaskNeeds{DeclaredCPU: 0.5, DeclaredMemory: 64 << 20}, "0.50 of a processor declared per task",
			"64.0MiB declared per task",
		},
		"measured": {&client.TaskNeeds{
			DeclaredCPU: 1, DeclaredMemory: 64 << 20, MeasuredCPU: 0.312, MeasuredMemory: 5 << 19,
		}, "1.00 of a processor declared per task, 0.31 measured", "64.0MiB declared per task, 2.5MiB peak of a task"},
		"of a memory not known": {
			&client.TaskNeeds{DeclaredCPU: 1, MeasuredCPU: 1, MeasuredMemory: 1 << 20},
			"1.00 of a processor declared per task, 1.00 measured", "none declared, 1.0MiB peak of a task",
		},
	} {
		if cpu, memory := cpuText(c.needs), memoryText(c.needs); cpu != c.cpu || memory != c.memory {
			t.Errorf("%s: %q and %q", name, cpu, memory)
		}
	}
}

func TestTopShowsDeclaredAndMeasuredMemory(t *testing.T) {
	u := &client.SiteUse{Jobs: []client.JobUse{
		{ID: "a", Declared: 1, Need: 0.5, Memory: 3 << 20, DeclaredMemory: 64 << 20, MostMemory: 2 << 20},
		{ID: "b", Declared: 1, Paused: true},
	}}
	var text bytes.Buffer
	writeSiteUse(&text, "s", u)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	a, b := strings.Fields(lines[len(lines)-2]), strings.Fields(lines[len(lines)-1])
	if got := strings.Join(a[len(a)-3:], " "); got != "3.0MiB 64.0MiB 2.0MiB" {
		t.Errorf("%q", lines[len(lines)-2])
	}
	if got := strings.Join(b[len(b)-4:], " "); got != "- - - paused" {
		t.Errorf("%q", lines[len(lines)-1])
	}
}
