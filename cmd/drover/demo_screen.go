package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/seed-9b8f70bb/drover/client"
)

// demoScreen shows the board on stderr while the stream runs: a table that is
// drawn anew in place on a terminal, lines of news elsewhere, and nothing where
// JSON is wanted.
type demoScreen struct {
	board *demoBoard
	w     io.Writer
	live  bool
	quiet bool

	mu    sync.Mutex // of w
	drawn int        // lines of the last frame
}

const demoFrame = 250 * time.Millisecond

// The size of a terminal that does not tell it.
const plainColumns, plainRows = 80, 24

func newDemoScreen(a *app, b *demoBoard) *demoScreen {
	return &demoScreen{board: b, w: a.stderr, live: a.terminal && !a.flags.JSON, quiet: a.flags.JSON}
}

// changed notes what has become of a job.
func (s *demoScreen) changed(n int, j *client.Job) {
	first, last := s.board.put(n, j)
	if s.live || s.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first && last { // it was over before anybody could look
		was := *j
		was.State = client.Waiting
		_, _ = fmt.Fprintln(s.w, s.board.event(n, &was))
	}
	if first || last {
		_, _ = fmt.Fprintln(s.w, s.board.event(n, j))
	}
}

// follow draws until ctx ends.
func (s *demoScreen) follow(ctx context.Context, grid *client.Client) {
	if !s.live {
		return
	}
	ticker := time.NewTicker(demoFrame)
	defer ticker.Stop()
	for {
		s.draw(ctx, grid)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// draw asks the sites how they are and writes a frame over the last one.
func (s *demoScreen) draw(ctx context.Context, grid *client.Client) {
	if sites, err := grid.Sites(ctx); err == nil {
		s.board.putSites(sites)
	}
	columns, rows := s.size()
	lines := s.board.frame(time.Now(), rows-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.w, overwrite(s.drawn, lines, columns))
	s.drawn = len(lines)
}

// close shows how it all ended.
func (s *demoScreen) close(ctx context.Context, grid *client.Client) {
	if s.live {
		s.draw(ctx, grid)
	}
	if !s.quiet {
		_, _ = fmt.Fprintln(s.w)
	}
}

func (s *demoScreen) size() (columns, rows int) {
	if f, ok := s.w.(interface{ Fd() uintptr }); ok {
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
