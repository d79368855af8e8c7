package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
)

// lookPatience is that of the question who has some data.
const lookPatience = 5 * time.Second

// source is a site that has data.
type source struct {
	site, url string
	data      depot.Data
}

// locate finds a site that has data: from, or whoever says so first.
func (s *Server) locate(ctx context.Context, id, from string) (source, error) {
	urls := make(map[string]string)
	for _, m := range s.group.Members() {
		if m.Role == gossip.Server && m.Name != s.cfg.Name && (from == "" || m.Name == from) {
			urls[m.Name] = m.URL
		}
	}
	if from != "" && len(urls) == 0 && from != s.cfg.Name {
		_, err := s.Peer("from", from)
		return source{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	type answer struct {
		source
		gone string
		err  error
	}
	answers := make(chan answer, len(urls))
	for name, url := range urls {
		go func() {
			d, gone, err := s.couriers.peers.FindData(ctx, url, id)
			a := answer{source: source{site: name, url: url}, gone: gone, err: err}
			if d != nil {
				a.data = *d
			}
			answers <- a
		}()
	}
	var silent, told []string
	for range urls {
		a := <-answers
		switch {
		case a.err != nil:
			silent = append(silent, a.site)
		case a.data.ID == id && s.checkData(&a.data) == nil && checkBlock(&a.data) == nil:
			a.data.Copy = a.data.Mode != depot.Sticky
			return a.source, nil
		case a.gone != "":
			told = append(told, a.gone)
		}
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return source{}, err
	}
	return source{}, s.nowhere(id, told, silent)
}

// nowhere says that nobody has data, as far as anybody has said.
func (s *Server) nowhere(id string, told, silent []string) error {
	if _, err := s.depot.Get(id); err != nil {
		if gone, ok := errors.AsType[*depot.GoneError](err); ok {
			told = append(told, s.DescribeGone(gone))
		}
	}
	p := &problem.Problem{
		Reason: problem.UnknownData, Field: "id", Accepted: "a handle of data that are at some site",
		Message: fmt.Sprintf("nobody has data %s", id), Hint: "drover data list shows what there is",
	}
	if slices.Sort(told); len(told) > 0 {
		p.Message += ": " + strings.Join(told, "; ")
	}
	if slices.Sort(silent); len(silent) > 0 {
		p.Message += fmt.Sprintf("; not answered: %s", strings.Join(silent, ", "))
		p.Retryable, p.Hint = true, "try again when these sites answer"
	}
	return p
}

func stickyElsewhere(id, site string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.StickyData, Field: "id", Accepted: "data that are not sticky", Message: fmt.Sprintf("data %s are sticky: they stay at site %s alone", id, site),
		Hint: "what uses them runs at site " + site,
	}
}
