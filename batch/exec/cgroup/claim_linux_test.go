package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Two hosts of one process are two owners.
func TestAProcessorHasOneOwnerAtATime(t *testing.T) {
	a, b := host(t, Memory), host(t, Memory)
	need(t, a, Processors)
	all, err := affinity()
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.ClaimCPUs(1)
	if errors.Is(err, ErrTaken) {
		t.Skip(err) // somebody else on this machine has them
	}
	if err != nil || len(got) != 1 || !slices.Contains(all, got[0]) {
		t.Fatalf("%v, %v, of %v", got, err, all)
	}
	for name, h := range map[string]*Host{"another owner": b, "the same": a} {
		if more, err := h.ClaimCPUs(len(all)); !errors.Is(err, ErrTaken) {
			t.Errorf("%s gets %v too: %v", name, more, err)
		}
	}
	for _, n := range []int{0, -1, len(all) + 1} {
		if got, err := b.ClaimCPUs(n); !errors.Is(err, ErrTaken) {
			t.Errorf("%d: %v, %v", n, got, err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	// What failed has taken none.
	eventually(t, "what a closed host had is free", func() bool {
		again, err := b.ClaimCPUs(1)
		return err == nil && again[0] == got[0]
	})
}

func TestOnlyProcessorsThatThisProcessMayUseAreClaimed(t *testing.T) {
	all, err := affinity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("taskset"); err != nil || len(all) < 2 {
		t.Skip("no taskset, or one processor only")
	}
	last := all[len(all)-1]
	cmd := exec.Command("taskset", "-c", formatCPUs([]int{last}), os.Args[0], "-test.run=^TestUsable$", "-test.v")
	cmd.Env = append(os.Environ(), "CGROUP_TEST_USABLE="+formatCPUs([]int{last}))
	text, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(text), "SKIP") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestUsable is run by the one above.
func TestUsable(t *testing.T) {
	want := os.Getenv("CGROUP_TEST_USABLE")
	if want == "" {
		t.Skip("not told what is usable")
	}
	h := host(t, Memory)
	if h.by[Processors] == nil {
		return
	}
	got, err := h.usable(h.by[Processors])
	if err != nil || formatCPUs(got) != want {
		t.Errorf("usable: %v, %v, want %s", got, err, want)
	}
}
