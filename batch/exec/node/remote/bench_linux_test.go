package remote

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// BenchmarkShares sets new shares of 100 tasks of a node. It reports the daemon's processor
// time for one share, and the daemon's memory.
func BenchmarkShares(b *testing.B) {
	r := newRig(b)
	defer r.keep(30 * time.Second)()
	const tasks = 100
	var all []*Task
	for i := range tasks {
		t := r.task(i+1, "")
		t.Spec = exec.Spec{Args: []string{"sleep", "1000"}, Env: []string{"PATH=" + os.Getenv("PATH")}}
		all = append(all, r.launch(t))
	}
	before := used(b, r.Pid())
	n := 0
	for b.Loop() {
		n++
		shares := make([]node.Share, tasks)
		for i, p := range all {
			shares[i] = node.Share{ID: p.ID(), CPU: cgroup.Processor/4 + cgroup.CPU((n%16)<<14)}
		}
		if err := r.node.SetShares(b.Context(), shares); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((used(b, r.Pid())-before).Microseconds())/float64(n*tasks), "daemon-µs/share")
	b.ReportMetric(resident(b, r.Pid())/(1<<20), "daemon-MiB")
	for _, p := range all {
		if err := p.Signal(syscall.SIGKILL); err != nil {
			b.Error(err)
		}
		p.Wait()
	}
}

// used returns the processor time of a process.
func used(b *testing.B, pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks int
	for _, at := range []int{11, 12} {
		n, err := strconv.Atoi(f[at])
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resident returns the memory of a process in bytes.
func resident(b *testing.B, pid int) float64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(n * os.Getpagesize())
}
