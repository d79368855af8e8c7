package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

const primesYAML = `
    - name: primes
      doc: Counts primes, and can be stopped and go on.
      args: [{name: below, type: int}]
      command: [drover, service, primes, "--below={below}"]
      checkpoint: {signal: TERM, grace: 10s}
      memory: 96MiB
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 10m}}
`

// known returns a bound and the number of primes below it. A node takes about the given time to
// count them.
func (c *cluster) known(want time.Duration) (below, primes int) {
	c.t.Helper()
	id := c.run(cmdline.ExitOK, "submit", "primes", "below="+strconv.Itoa(counts[0].below))
	c.run(cmdline.ExitOK, "wait", id)
	v := c.shown(id)
	took := v.GetEndedAt().AsTime().Sub(v.GetStartedAt().AsTime())
	for _, known := range counts {
		below, primes = known.below, known.primes
		if took*time.Duration(below/counts[0].below) >= want {
			break
		}
	}
	return below, primes
}

// jobsOn returns the running jobs of a node.
func (c *cluster) jobsOn(m *machine) (ids []string) {
	c.t.Helper()
	for _, j := range c.top().Jobs {
		if slices.Contains(j.Nodes, m.Name) {
			ids = append(ids, j.GetJobId())
		}
	}
	return ids
}

// Two nodes run two jobs each. The jobs of one node are cancelled, so one of the other two jobs
// moves there with its checkpoint. Then that node is powered off.
func TestACheckpointMovesBetweenHostsWithACorrectResult(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 1, "lease: 3s\npolicy: {name: dfrs, settings: {algorithm: 'GreedyPM*/per/opt=min/minvt=1', "+
		"period: 1s, discover: \"off\"}}\n", primesYAML)
	below, primes := c.known(4 * time.Second)
	for range 4 {
		c.run(cmdline.ExitOK, "submit", "primes", "below="+strconv.Itoa(below))
	}
	from, to := c.nodes[0], c.nodes[1]
	var stay []string
	c.until("they run two by two", func() bool {
		stay = c.jobsOn(from)
		return len(stay) == 2 && len(c.jobsOn(to)) == 2
	})
	c.run(cmdline.ExitOK, append([]string{"cancel"}, c.jobsOn(to)...)...)
	var moved string
	c.until("one of the others moves", func() bool {
		for _, id := range c.jobsOn(to) {
			if slices.Contains(stay, id) {
				moved = id
			}
		}
		return moved != ""
	})
	c.off(to)
	want := fmt.Sprintf("primes      %d below %d\n", primes, below)
	for _, id := range stay {
		c.run(cmdline.ExitOK, "wait", id)
		logs := c.run(cmdline.ExitOK, "logs", id) + "\n"
		if !strings.Contains(logs, want) {
			t.Errorf("no %q in\n%s", want, logs)
		}
		if id == moved && !strings.Contains(logs, "resumed at") {
			t.Errorf("the moved job restarted from the beginning:\n%s", logs)
		}
	}
	if v := c.shown(moved); v.Checkpoints < 1 || v.Attempt < 3 || v.Nodes[0] != from.Name {
		t.Errorf("%+v", v)
	}
}

const spinYAML = `
    - name: spin
      doc: Computes until it is ended.
      command: [sh, -c, 'echo $$ > DIR/pid.new; mv DIR/pid.new DIR/pid; while :; do :; done']
      score: 200
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 60s}}
    - name: urgent
      doc: As beat.
      args: [{name: dir, type: string}, {name: beats, type: int, default: 1000000}]
      command: [sh, DIR/beat.sh, "{dir}", "{beats}"]
      score: 200
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 60s}}
`

// uptime returns the time of CLOCK_BOOTTIME, as in the lines of beatScript.
func uptime(t testing.TB) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var up float64
	if _, err := fmt.Sscan(string(text), &up); err != nil {
		t.Fatal(err)
	}
	return up
}

// computed returns the processor time of a process.
func computed(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "schedstat"))
	if err != nil {
		t.Skip("this kernel does not count processor time exactly: ", err)
	}
	var used int64
	if _, err := fmt.Sscan(string(text), &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used)
}

// sleepUntil waits until an instant of CLOCK_BOOTTIME, the clock of the measurement.
func sleepUntil(t testing.TB, up float64) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for uptime(t) < up {
		<-tick.C
	}
}

// The urgent job needs the only copy of a license. The job that holds the copy is on another host
// and is paused.
func TestPausingOnAnotherHostFreesTheProcessorAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 1,
		"licenses: [{name: cad, copies: 1}]\npolicy: {name: convergent, settings: {preset: deadlines}}\n", spinYAML,
		"score: 200", "score: 100")
	slow := c.run(cmdline.ExitOK, "submit", "spin", "--license", "cad", "--walltime", "1h")
	pid := 0
	c.until("the job computes", func() bool {
		text, err := os.ReadFile(c.file("pid"))
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && computed(t, pid) > 100*time.Millisecond
	})
	urgent := c.beat("urgent", "--license", "cad", "--deadline", "80s", "--best-effort")
	c.on(urgent, 1)
	begun := c.copies(urgent)[0].first
	sleepUntil(t, begun+0.2)
	before := computed(t, pid)
	sleepUntil(t, begun+1.2)
	if used := computed(t, pid) - before; used > 10*time.Millisecond {
		t.Errorf("the paused job used %v of a second", used)
	}
	if v := c.shown(slow); v.GetState() != droverv1.JobState_JOB_STATE_RUNNING || v.Attempt != 1 {
		t.Errorf("%+v", v)
	}
	if log, err := os.ReadFile(c.nodes[0].daemon.log); err != nil ||
		!strings.Contains(string(log), "pausing: signals") {
		// The freezer pauses a process without changing its state to stopped.
		if stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err != nil ||
			strings.Contains(string(stat), ") T ") {
			t.Errorf("the job was stopped by a signal: %s, %v", stat, err)
		}
	}
	c.done(1, urgent)
	before = computed(t, pid)
	c.until("the job continues", func() bool { return computed(t, pid) > before+20*time.Millisecond })
	c.run(cmdline.ExitOK, "cancel", slow)
	c.run(cmdline.ExitCancelled, "wait", slow)
}
