package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// demoTerminal is where a demo shows what happens: frames that take each other's place on
// a terminal, lines elsewhere, and nothing where JSON is wanted.
type demoTerminal struct {
	w     io.Writer
	live  bool
	quiet bool

	mu    sync.Mutex // of w
	drawn int        // lines of the last frame
}

// The size of a terminal that does not tell it.
const plainColumns, plainRows = 80, 24

func newDemoTerminal(a *app) *demoTerminal {
	return &demoTerminal{w: a.stderr, live: a.terminal && !a.flags.JSON, quiet: a.flags.JSON}
}

// say writes a line of news, where there are no frames.
func (t *demoTerminal) say(line string) {
	if t.live || t.quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintln(t.w, line)
}

// draw writes a frame of at most so many rows over the last one, where there are frames.
func (t *demoTerminal) draw(frame func(rows int) []string) {
	if !t.live {
		return
	}
	columns, rows := t.size()
	lines := frame(rows - 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.w, overwrite(t.drawn, lines, columns))
	t.drawn = len(lines)
}

// end sets off what follows.
func (t *demoTerminal) end() {
	if !t.quiet {
		_, _ = fmt.Fprintln(t.w)
	}
}

func (t *demoTerminal) size() (columns, rows int) {
	if f, ok := t.w.(interface{ Fd() uintptr }); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return plainColumns, plainRows
}

// overwrite returns what puts lines, cut to so many columns, in the place of as
// many lines as were drawn before.
func overwrite(drawn int, lines []string, columns int) string {
	var b strings.Builder
	if drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", drawn)
	}
	for _, l := range lines {
		b.WriteString("\r" + text.Trim(l, columns) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	return b.String()
}
