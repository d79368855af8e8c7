package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// zombies counts the ended children of a process.
func zombies(t *testing.T, parent int) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(parent) {
			n++
		}
	}
	return n
}

// The program has ended before the cancel, but its supervisor could not see it.
func TestAJobThatEndedBeforeItsCancelIsDone(t *testing.T) {
	g := newGround(t)
	p := newProcessSite(t, "lyon", "policy: {name: fcfs}\nnodes: [{processors: 1}]")
	p.run()
	id := newID(t)
	p.submit(id, g.request("once", 1, true, 0))
	p.until(id, running)
	supervisor := p.supervisors()[0]
	if err := syscall.Kill(supervisor, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	g.open()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(30 * time.Second); zombies(t, supervisor) == 0; {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the program did not end")
		}
	}
	p.cancel(id)
	if err := syscall.Kill(supervisor, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if j := p.until(id, done, cancelled, failed); j.GetState() != done {
		t.Errorf("the job is %v: %v", j.GetState(), j.GetOutcome())
	}
}
