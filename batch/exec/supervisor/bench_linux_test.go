package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/exec"
)

func benchSpec(name string, args ...string) exec.Spec {
	return exec.Spec{Key: key(name, 1), Args: args, Env: []string{"PATH=/usr/bin:/bin"}}
}

// BenchmarkLaunch runs /bin/true from its claim to its recorded end.
func BenchmarkLaunch(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprint("at-once=", clients), func(b *testing.B) {
			dir := b.TempDir()
			c := connectTo(b, dir)
			var n int
			var mu sync.Mutex
			b.SetParallelism(max(clients/2, 1))
			b.ResetTimer()
			run := func() {
				mu.Lock()
				n++
				name := strconv.Itoa(n)
				mu.Unlock()
				p, err := c.Spawn(b.Context(), benchSpec(name, "/bin/true"), filepath.Join(dir, name))
				if err != nil {
					b.Error(err)
					return
				}
				if e := p.Wait(); e != (exec.Exit{}) {
					b.Errorf("%+v", e)
				}
			}
			if clients == 1 {
				for b.Loop() {
					run()
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						run()
					}
				})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkMemory holds sleeping jobs and reports the supervisor's memory for each.
func BenchmarkMemory(b *testing.B) {
	for _, jobs := range []int{0, 100, 1000} {
		b.Run(fmt.Sprint("jobs=", jobs), func(b *testing.B) {
			for b.Loop() {
				holdJobs(b, jobs)
			}
		})
	}
}

func holdJobs(b *testing.B, jobs int) {
	dir := b.TempDir()
	c := connectTo(b, dir)
	if _, _, err := c.Attach(b.Context(), key("none", 1), dir); err != nil {
		b.Fatal(err)
	}
	pid := supervisorPid(b, dir)
	before := resident(b, pid)
	all := make([]*Attempt, 0, jobs)
	for i := range jobs {
		name := "0198c5a4-0000-7000-8000-" + fmt.Sprintf("%012d", i)
		p, err := c.Spawn(b.Context(), benchSpec(name, "/bin/sleep", "3000"), filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, p)
	}
	held := resident(b, pid)
	b.ReportMetric(float64(held), "KB")
	if jobs > 0 {
		b.ReportMetric(float64(held-before)/float64(jobs), "KB/job")
	}
	for _, p := range all {
		if err := p.Signal(syscall.SIGKILL); err != nil {
			b.Error(err)
		}
	}
	for _, p := range all {
		p.Wait()
	}
}

// resident returns the private memory of a process in KB, without the shared pages of the
// binary.
func resident(b *testing.B, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return kb
		}
	}
	b.Fatal("no RssAnon in /proc")
	return 0
}
