package faults

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// trace is what has happened, for people.
type trace struct{ lines []line }

type line struct {
	at   batch.Time
	site int32 // -1 for none
	job  int32 // number; -1: of nobody's
	what string

	again int // times, until then
	until batch.Time
}

func (t *trace) add(at batch.Time, s *server, f *fact, what string) {
	l := line{at: at, site: -1, job: -1, what: what}
	if s != nil {
		l.site = int32(s.node)
	}
	if f != nil {
		l.job = int32(f.n)
	}
	t.lines = append(t.lines, l)
}

// longest is how many lines of a trace are shown at most: the last ones.
const longest = 300

// near is how many lines back a line is looked for that says the same.
const near = 4

// text returns the trace; with a job, only what is about it or about no job.
// What is said again and again is said once.
func (t *trace) text(f *fact) string {
	var kept []line
	for _, l := range t.lines {
		if f == nil || l.job < 0 || int(l.job) == f.n {
			kept = fold(kept, l)
		}
	}
	var b strings.Builder
	if n := len(kept) - longest; n > 0 {
		fmt.Fprintf(&b, "(%d lines before)\n", n)
		kept = kept[n:]
	}
	for i := range kept {
		kept[i].print(&b)
	}
	return b.String()
}

// fold adds a line, or counts it where one near the end says the same of a job.
func fold(kept []line, l line) []line {
	for i := len(kept) - 1; i >= max(0, len(kept)-near) && l.job >= 0; i-- {
		if k := &kept[i]; k.site == l.site && k.job == l.job && k.what == l.what {
			k.again, k.until = k.again+1, l.at
			return kept
		}
	}
	return append(kept, l)
}

func (l *line) print(b *strings.Builder) {
	site, job := "", ""
	if l.site >= 0 {
		site = fmt.Sprintf("s%d", l.site)
	}
	if l.job >= 0 {
		job = fmt.Sprintf("j%d", l.job)
	}
	fmt.Fprintf(b, "%12.6f  %-3s %-3s %s", batch.Duration(l.at).Seconds(), site, job, l.what)
	if l.again > 0 {
		fmt.Fprintf(b, " (again, %d times until %.6f)", l.again, batch.Duration(l.until).Seconds())
	}
	b.WriteByte('\n')
}
