package main

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// tickOfStat is what /proc/stat counts in: USER_HZ, the same on every Linux.
const tickOfStat = 10 * time.Millisecond

// hostBusy returns the processor time of this host that was not idle, what a virtual
// machine was kept from included, since it was started.
func hostBusy() (time.Duration, bool) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return busyOf(line)
}

// busyOf reads cpu user nice system idle iowait irq softirq steal guest guest_nice;
// guests are part of user and nice.
func busyOf(line []byte) (time.Duration, bool) {
	words := bytes.Fields(line)
	if len(words) < 9 || string(words[0]) != "cpu" {
		return 0, false
	}
	var ticks int64
	for i, word := range words[1:9] {
		n, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil {
			return 0, false
		}
		if idle := i == 3 || i == 4; !idle {
			ticks += n
		}
	}
	return time.Duration(ticks) * tickOfStat, ticks > 0
}
