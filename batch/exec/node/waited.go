package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

// mostThreads bounds of how many threads Waited asks.
const mostThreads = 256

// Waited returns how long the threads of the task that live now have been ready to run
// while the host had no processor for them, all together; where it runs is the kernel's
// doing, not its share's. What ends takes its part with it, so it may become less.
func (p *Task) Waited() (time.Duration, error) {
	if p.group == nil {
		return 0, cgroup.ErrNotOffered
	}
	pids, err := p.group.Pids()
	if err != nil {
		return 0, p.gone(err)
	}
	var sum time.Duration
	asked := 0
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/task", pid)
		threads, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended
		}
		for _, thread := range threads {
			if asked++; asked > mostThreads {
				return sum, nil
			}
			text, err := os.ReadFile(filepath.Join(dir, thread.Name(), "schedstat"))
			if err != nil {
				continue // it has ended
			}
			sum += parseWaited(string(text))
		}
	}
	return sum, nil
}

// parseWaited reads time run, time waited and number of turns; 0 for what it does not
// understand.
func parseWaited(text string) time.Duration {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n)
}
