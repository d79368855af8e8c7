package main

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// demoScreen shows the board on stderr while the stream runs: a table that is
// drawn anew in place on a terminal, lines of news elsewhere, and nothing where
// JSON is wanted.
type demoScreen struct {
	*demoTerminal
	board *demoBoard
}

const demoFrame = 250 * time.Millisecond

func newDemoScreen(a *app, b *demoBoard) *demoScreen { return &demoScreen{newDemoTerminal(a), b} }

// changed notes what has become of a job.
func (s *demoScreen) changed(n int, j *client.Job) {
	first, last := s.board.put(n, j)
	if first && last { // it was over before anybody could look
		was := *j
		was.State = client.Waiting
		s.say(s.board.event(n, &was))
	}
	if first || last {
		s.say(s.board.event(n, j))
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
		s.look(ctx, grid)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// look asks the sites how they are and draws that.
func (s *demoScreen) look(ctx context.Context, grid *client.Client) {
	if sites, err := grid.Sites(ctx); err == nil {
		s.board.putSites(sites)
	}
	s.draw(func(rows int) []string { return s.board.frame(time.Now(), rows) })
}

// close shows how it all ended.
func (s *demoScreen) close(ctx context.Context, grid *client.Client) {
	if s.live {
		s.look(ctx, grid)
	}
	s.end()
}
