package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// mostMoves bounds how many moves of one site are read for one page.
const mostMoves = 100_000

// skew is how far the clocks of two sites can differ, and how late a target can learn
// of a move, before a page may show a move twice or in an earlier state.
const skew = time.Minute

// ListMoves lists the moves of all sites, the latest first. Both sites of a move
// record it, each by its own clock, so more is read than a page shows.
func (a *Agent) ListMoves(
	ctx context.Context, text string, size int, after *mapping.MovePosition,
) (*rpc.MovesPage, error) {
	want, err := parseFilter(text, "job", "site", "state")
	if err != nil {
		return nil, err
	}
	if state, ok := want["state"]; ok && !slices.Contains(rpc.MoveStates(), state) {
		return nil, &problem.Problem{
			Reason: problem.BadValue, Field: "filter", Message: fmt.Sprintf("state %q", state),
			Accepted: strings.Join(rpc.MoveStates(), ", "),
		}
	}
	s := newMoveSearch(a, size, after, want)
	for s.more() {
		if err := s.turn(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.found) == 0 && len(s.missing) == 0 && after == nil {
		if err := a.checkNames(ctx, want); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.missing, func(a, b rpc.Absent) int { return strings.Compare(a.Site, b.Site) })
	out := &rpc.MovesPage{Missing: s.missing}
	if len(s.found) > size {
		out.Next = &s.found[size-1].Place
		s.found = s.found[:size]
	}
	for _, m := range s.found {
		out.Moves = append(out.Moves, s.moves[m.Index].OrderedAt(m.Place.Ordered))
	}
	return out, nil
}

// checkNames returns the problem of a filter for a site or job that does not exist:
// without it an empty list would say that nothing was ever moved. Sites that have left
// are in the moves of others.
func (a *Agent) checkNames(ctx context.Context, want filter) error {
	var sites, jobs error
	if name, asked := want["site"]; asked {
		_, _, sites = a.siteNamed(name)
	}
	if id, asked := want["job"]; asked {
		_, jobs = a.locate(ctx, id)
	}
	for _, err := range []error{sites, jobs} {
		p, is := errors.AsType[*problem.Problem](err)
		if is && (p.Reason == problem.UnknownSite || p.Reason == problem.UnknownJob) {
			return p
		}
	}
	return nil
}

// moveSearch reads moves from all sites, page by page, until there are enough.
type moveSearch struct {
	a     *Agent
	n     int // moves wanted; one more shows that there are others
	after *mapping.MovePosition
	want  filter
	ask   int // moves to ask of a site at once

	sites   []*mapping.Site
	peers   []*rpc.Peer
	read    []siteMoves // by site
	moves   []rpc.Move
	reports []mapping.MoveReport
	found   []mapping.MergedMove // for the page, in order
	missing []rpc.Absent
}

// siteMoves is how far the list of one site has been read.
type siteMoves struct {
	begun, ended bool
	token        string
	count        int
	oldest       int64 // of those read
}

func newMoveSearch(a *Agent, n int, after *mapping.MovePosition, want filter) *moveSearch {
	s := &moveSearch{a: a, n: n, after: after, want: want}
	s.ask = min(max(2*n, 2*rpc.DefaultPage), rpc.LargestPage)
	if after != nil {
		s.ask = rpc.LargestPage // the moves of former pages come first
	}
	s.sites, s.peers = a.known()
	s.read = make([]siteMoves, len(s.sites))
	return s
}

// unread reports whether a site can still have a move for the page.
func (s *moveSearch) unread(i int) bool {
	r := &s.read[i]
	switch {
	case r.ended:
		return false
	case !r.begun || len(s.found) <= s.n:
		return true
	}
	return r.oldest >= s.found[s.n].Place.Ordered-skew.Microseconds()
}

func (s *moveSearch) more() bool {
	for i := range s.sites {
		if s.unread(i) {
			return true
		}
	}
	return false
}

// movePage is one site's page of moves.
type movePage struct {
	moves []rpc.Move
	next  string
}

// turn reads one more page of each site that can have a move for the page.
func (s *moveSearch) turn(ctx context.Context) error {
	var (
		at    []int
		sites []*mapping.Site
		peers []*rpc.Peer
		index = make(map[*mapping.Site]int)
	)
	for i := range s.sites {
		if s.unread(i) {
			index[s.sites[i]] = i
			at, sites, peers = append(at, i), append(sites, s.sites[i]), append(peers, s.peers[i])
		}
	}
	results := ask(ctx, s.a.patienceFor(ctx, 0), sites, peers, func(
		ctx context.Context, site *mapping.Site, p *rpc.Peer,
	) (page movePage, err error) {
		page.moves, page.next, err = p.ListMoves(ctx, s.want.text("job"), s.ask, s.read[index[site]].token)
		return page, err
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for k := range results {
		r, i := &results[k], at[k]
		switch {
		case r.answered():
			if err := s.take(i, &r.value); err != nil {
				return err
			}
		case r.refused(): // the question is wrong, not the site
			return r.problem
		default:
			s.read[i].ended = true
			s.missing = append(s.missing, r.absent(s.sites[i].Name))
		}
	}
	s.merge()
	return nil
}

// take adds one page of one site.
func (s *moveSearch) take(i int, page *movePage) error {
	r := &s.read[i]
	for _, m := range page.moves {
		t := m.Report(s.sites[i].Name, int32(len(s.moves)))
		r.oldest = t.Ordered
		s.reports, s.moves = append(s.reports, t), append(s.moves, m)
	}
	r.begun, r.token = true, page.next
	r.ended = r.token == "" || len(page.moves) == 0
	if r.count += len(page.moves); !r.ended && r.count >= mostMoves {
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "page_token",
			Message:  fmt.Sprintf("site %s has more than %d moves before this page", s.sites[i].Name, mostMoves),
			Accepted: "a filter by job, or the site's own list",
		}
	}
	return nil
}

// merge computes found from what has been read.
func (s *moveSearch) merge() {
	s.found = slices.DeleteFunc(mapping.MergeMoves(s.reports), func(m mapping.MergedMove) bool {
		w := s.moves[m.Index]
		site, asked := s.want["site"]
		return s.after != nil && m.Place.Compare(*s.after) <= 0 ||
			asked && w.From() != site && w.To() != site ||
			!s.want.allows("state", w.State())
	})
}
