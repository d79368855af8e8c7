package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
)

func TestAJobTellsWhatItsTasksNeedAndWereFoundTo(t *testing.T) {
	for name, c := range map[string]struct {
		needs       *client.TaskNeeds
		cpu, memory string
	}{
		"only remembered":       {nil, "", ""},
		"like any job":          {&client.TaskNeeds{DeclaredCPU: 1}, "", ""},
		"not measured":          {&client.TaskNeeds{DeclaredCPU: 0.5, DeclaredMemory: 64 << 20}, "0.50 of a processor declared for each task", "64.0MiB declared for each task"},
		"measured":              {&client.TaskNeeds{DeclaredCPU: 1, DeclaredMemory: 64 << 20, MeasuredCPU: 0.312, MeasuredMemory: 5 << 19}, "1.00 of a processor declared for each task, 0.31 measured", "64.0MiB declared for each task, 2.5MiB used at most by one"},
		"of a memory not known": {&client.TaskNeeds{DeclaredCPU: 1, MeasuredCPU: 1, MeasuredMemory: 1 << 20}, "1.00 of a processor declared for each task, 1.00 measured", "none declared, 1.0MiB used at most by a task"},
	} {
		if cpu, memory := cpuOf(c.needs), memoryOf(c.needs); cpu != c.cpu || memory != c.memory {
			t.Errorf("%s: %q and %q", name, cpu, memory)
		}
	}
}

func TestWhoHasWhatTellsOfDeclaredAndOfMeasuredMemory(t *testing.T) {
	u := &client.SiteUse{Jobs: []client.JobUse{
		{ID: "a", Declared: 1, Need: 0.5, Memory: 3 << 20, DeclaredMemory: 64 << 20, MostMemory: 2 << 20},
		{ID: "b", Declared: 1, Paused: true},
	}}
	var text bytes.Buffer
	topTable(&text, "s", u)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	a, b := strings.Fields(lines[len(lines)-2]), strings.Fields(lines[len(lines)-1])
	if got := strings.Join(a[len(a)-3:], " "); got != "3.0MiB 64.0MiB 2.0MiB" {
		t.Errorf("%q", lines[len(lines)-2])
	}
	if got := strings.Join(b[len(b)-4:], " "); got != "- - - paused" {
		t.Errorf("%q", lines[len(lines)-1])
	}
	if v := topViewOf("s", u).Jobs[0]; v.DeclaredMemory != 64<<20 || v.MostMemory != 2<<20 {
		t.Errorf("%+v", v)
	}
}
