package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func contextOfCleanup() context.Context { return context.Background() }

// beatScript appends a line to a file of its job at its start, periodically, and at its end. A
// line has the host and the time of CLOCK_BOOTTIME. Another line reports that a second copy of
// the job runs at the start. The script ends after a number of beats or when a file exists. It
// ignores SIGTERM.
const beatScript = `trap '' TERM
file=$1/$DROVER_JOB_ID
host=$(readlink /proc/self/ns/net)
note() { read -r up rest < /proc/uptime; echo "$1 $$ $host $up" >> "$file"; }
for p in $(cut -d' ' -f2 "$file" 2> /dev/null | sort -u); do
  case $(sed 's/.*) //' "/proc/$p/stat" 2> /dev/null) in
    ''|Z*|X*) ;;
    *) note twice ;;
  esac
done
note begin
n=0
while [ "$n" -lt "$2" ] && [ ! -e "$file.end" ]; do
  n=$((n + 1))
  sleep 0.02
  note beat
done
note end
`

// beatYAML defines services that run beatScript.
const beatYAML = `
    - name: beat
      doc: Lives until a file is there.
      args: [{name: dir, type: string}, {name: beats, type: int, default: 1000000}]
      command: [sh, DIR/beat.sh, "{dir}", "{beats}"]
      memory: 96MiB
      model: {fixed: {width: 1, time: 10m}}
    - name: again
      doc: Likewise, and may be executed twice.
      args: [{name: dir, type: string}, {name: beats, type: int, default: 1000000}]
      command: [sh, DIR/beat.sh, "{dir}", "{beats}"]
      memory: 96MiB
      restartable: true
      model: {fixed: {width: 1, time: 10m}}
`

// copyOf is one execution of a job's program.
type copyOf struct {
	pid         int
	host        string
	first, last float64 // seconds of CLOCK_BOOTTIME
	ended       bool    // by itself
}

// beats returns the directory to which the programs write.
func (c *cluster) beats() string {
	dir := c.file("beats")
	c.must(os.MkdirAll(dir, 0o700))
	return dir
}

// beat submits a job that runs beatScript.
func (c *cluster) beat(service string, args ...string) string {
	c.t.Helper()
	return c.run(cmdline.ExitOK, append([]string{"submit", service, "dir=" + c.beats()}, args...)...)
}

// finish tells jobs to end normally.
func (c *cluster) finish(ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		c.must(os.WriteFile(filepath.Join(c.beats(), id+".end"), nil, 0o600))
	}
}

// copies returns the executions of a job in the order of their starts. It fails the test if two
// executions overlap.
func (c *cluster) copies(id string) []copyOf {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.beats(), id))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	all, wrong := copiesIn(string(text))
	for _, w := range wrong {
		c.t.Errorf("job %s: %s", id, w)
	}
	return all
}

// copiesIn parses the lines of one job's programs.
func copiesIn(text string) (all []copyOf, wrong []string) {
	by := map[int]*copyOf{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) != 4 || !strings.HasSuffix(line, "\n") {
			continue // incomplete
		}
		pid, bad := strconv.Atoi(words[1])
		at, bad2 := strconv.ParseFloat(words[3], 64)
		if bad != nil || bad2 != nil {
			wrong = append(wrong, "invalid line "+line)
			continue
		}
		if by[pid] == nil {
			by[pid] = &copyOf{pid: pid, host: words[2], first: at}
		}
		by[pid].last = at
		switch words[0] {
		case "twice":
			wrong = append(wrong, "process "+words[1]+" begins while another copy lives")
		case "end":
			by[pid].ended = true
		}
	}
	for _, one := range by {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b copyOf) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	for i := 1; i < len(all); i++ {
		if all[i].first < all[i-1].last {
			wrong = append(wrong, "two copies: processes "+strconv.Itoa(all[i-1].pid)+" and "+strconv.Itoa(all[i].pid))
		}
	}
	return all, wrong
}

// on waits until a job's nth copy runs, and returns its node.
func (c *cluster) on(id string, n int) *machine {
	c.t.Helper()
	var all []copyOf
	c.until("copy "+strconv.Itoa(n)+" of job "+id+" runs", func() bool {
		all = c.copies(id)
		return len(all) >= n
	})
	for _, m := range c.nodes {
		if m.ID() == all[n-1].host {
			return m
		}
	}
	c.t.Fatalf("job %s runs on %s", id, all[n-1].host)
	return nil
}

func TestOverlappingCopiesAreDetected(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		copies int
		wrong  int
	}{
		"one after the other":  {"begin 1 a 1.00\nbeat 1 a 2.00\nbegin 2 b 2.00\nend 2 b 3.00\n", 2, 0},
		"overlapping":          {"begin 1 a 1.00\nbegin 2 b 1.50\nbeat 1 a 1.51\n", 2, 1},
		"detected by the copy": {"begin 1 a 1.00\ntwice 2 b 1.50\nbegin 2 b 1.50\n", 2, 1},
		"half a line":          {"begin 1 a 1.00\nbeat 1 a", 1, 0},
	} {
		if all, wrong := copiesIn(c.text); len(all) != c.copies || len(wrong) != c.wrong {
			t.Errorf("%s: %+v %q", name, all, wrong)
		}
	}
}
