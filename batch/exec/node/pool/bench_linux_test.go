package pool_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
)

// The measured site.
const (
	benchNodes = 50
	benchTasks = 20 // of each node
)

// BenchmarkSharesOfASite sets the shares of 1,000 tasks on 50 nodes once a second; an
// iteration is a second. Each node has its own daemon, supervisor, socket and control
// groups, and tasks sleep. It reports percents of one processor.
//
//	go test -run xxx -bench SharesOfASite -benchtime 30x ./batch/exec/node/pool
func BenchmarkSharesOfASite(b *testing.B) {
	var all []*rig
	for range benchNodes {
		all = append(all, newRig(b))
	}
	p := over(b, 0, all...)
	procs := launchSleepers(b, p, benchNodes, benchTasks)
	var daemons, supervisors []int
	for _, r := range all {
		daemons, supervisors = append(daemons, r.Pid()), append(supervisors, r.Supervisor())
	}
	n := 0
	for _, c := range []struct {
		name string
		step int // from one share to the next
	}{{"not set", -1}, {"the same", 0}, {"others", 1}} {
		b.Run(c.name, func(b *testing.B) {
			settle(2 * time.Second)
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			server, theirs, own := spent(b, os.Getpid()), spent(b, daemons...), spent(b, supervisors...)
			for b.Loop() {
				if c.step >= 0 {
					n += c.step
					setAll(b, procs, benchNodes, batch.One/4+batch.Share(n%16)<<14)
				}
				<-tick.C
			}
			seconds := b.Elapsed().Seconds()
			report := func(name string, d time.Duration) { b.ReportMetric(100*d.Seconds()/seconds, name) }
			b.ReportMetric(0, "ns/op")
			report("%server", spent(b, os.Getpid())-server)
			report("%daemons", spent(b, daemons...)-theirs)
			report("%supervisors", spent(b, supervisors...)-own)
		})
	}
	end(b, procs)
}

// BenchmarkNodeWithTasks reports the memory in MiB and the percents of one processor that a
// daemon and its supervisor need for a number of sleeping tasks, with renewals. Tasks are
// measured every 2 s, the default of servers, or their shares change every second. An
// iteration is a second.
//
//	go test -run xxx -bench NodeWithTasks -benchtime 20x ./batch/exec/node/pool
func BenchmarkNodeWithTasks(b *testing.B) {
	for _, c := range []struct {
		tasks    int
		measured bool
		set      bool
	}{
		{0, false, false},
		{10, false, false},
		{10, true, false},
		{100, false, false},
		{100, true, false},
		{100, false, true},
		{500, false, false},
		{500, true, false},
		{500, false, true},
	} {
		b.Run(fmt.Sprintf("%d, measured %v, set %v", c.tasks, c.measured, c.set), func(b *testing.B) {
			r := newRig(b)
			if c.measured {
				r.far.Close()
				r.far = remote.New(remote.Config{
					Name: r.Name, Address: "http://" + r.Address, Site: "lyon", SiteID: "id1",
					UseInterval: 2 * time.Second,
				})
				b.Cleanup(r.far.Close)
			}
			p := over(b, 0, r)
			procs := launchSleepers(b, p, 1, c.tasks)
			daemon, own := r.Pid(), r.Supervisor()
			settle(2 * time.Second)
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			begun, began := spent(b, daemon), spent(b, own)
			n := 0
			for b.Loop() {
				if n++; c.set {
					setAll(b, procs, 1, batch.One/4+batch.Share(n%16)<<14)
				}
				<-tick.C
			}
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(100*(spent(b, daemon)-begun).Seconds()/seconds, "%daemon")
			b.ReportMetric(100*(spent(b, own)-began).Seconds()/seconds, "%supervisor")
			b.ReportMetric(resident(b, daemon), "daemon-MiB")
			b.ReportMetric(resident(b, own), "supervisor-MiB")
			end(b, procs)
		})
	}
}

// launchSleepers launches tasks that sleep on each node, a few at a time.
func launchSleepers(b *testing.B, p *pool.Pool, nodes, tasks int) []exec.Launched {
	b.Helper()
	procs := make([]exec.Launched, nodes*tasks)
	dir := b.TempDir()
	allocation := make(chan int)
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			for i := range allocation {
				s := exec.Spec{
					Key: key(fmt.Sprint("job", i)), Shape: batch.Shape{Width: 1, Walltime: batch.Hour},
					Allocation: []batch.NodeAllocation{on(int32(i%nodes), 1)},
					Args:       []string{"sleep", "100000"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir,
				}
				var err error
				if procs[i], err = p.Launch(s); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range procs {
		allocation <- i
	}
	close(allocation)
	work.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return procs
}

// setAll gives all tasks a share, some less, so that neighbors differ.
func setAll(b *testing.B, procs []exec.Launched, nodes int, share batch.Share) {
	for i, proc := range procs {
		l := on(int32(i%nodes), 1)
		l.Share = share + batch.Share(i%7)<<12
		if err := proc.(exec.Sharer).SetShares([]batch.NodeAllocation{l}); err != nil {
			b.Fatal(err)
		}
	}
}

func end(b *testing.B, procs []exec.Launched) {
	for _, proc := range procs {
		if err := proc.Signal(syscall.SIGKILL); err != nil {
			b.Error(err)
		}
	}
	for _, proc := range procs {
		proc.Wait()
	}
}

// settle waits for the end of startup work.
func settle(d time.Duration) { <-time.After(d) }

// spent returns the processor time of processes, by their own clocks.
func spent(tb testing.TB, pids ...int) (sum time.Duration) {
	tb.Helper()
	for _, pid := range pids {
		var ts unix.Timespec
		// As in clock_getcpuclockid(3): the scheduler's time of all threads.
		if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil {
			tb.Fatal(err)
		}
		sum += time.Duration(ts.Nano())
	}
	return sum
}

// resident returns the memory of a process in MiB.
func resident(tb testing.TB, pid int) float64 {
	tb.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		tb.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		tb.Fatal(err)
	}
	return float64(n*os.Getpagesize()) / (1 << 20)
}
