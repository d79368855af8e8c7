package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// mostMoves bounds how many moves of one site are looked through for one page.
const mostMoves = 100_000

// skew is how far the clocks of two sites may differ, and how late a target may
// hear of a move, before a page may show a move twice or as it was earlier.
const skew = time.Minute

// ListMoves lists the moves of all sites. Both sites of a move tell it, each by
// its own clock, so that a page is made of a little more than it shows.
func (f face) ListMoves(ctx context.Context, req *droverv1.AgentServiceListMovesRequest) (*droverv1.AgentServiceListMovesResponse, error) {
	n, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	var after *mapping.MovePlace
	if err := rpc.ParseToken(req.GetPageToken(), &after); err != nil {
		return nil, err
	}
	want, err := parseFilter(req.GetFilter(), "job", "site", "state")
	if err != nil {
		return nil, err
	}
	if state, ok := want["state"]; ok && !slices.Contains([]string{"pending", "moved", "aborted"}, state) {
		return nil, &problem.Problem{Reason: problem.BadValue, Field: "filter", Message: fmt.Sprintf("state %q", state), Accepted: "pending, moved, aborted"}
	}
	s := newMoveSearch(f.a, n, after, want)
	for s.more() {
		if err := s.turn(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.found) == 0 && len(s.missing) == 0 && after == nil {
		if err := f.a.unheardOf(ctx, want); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.missing, func(a, b *droverv1.Candidate) int { return strings.Compare(a.GetSite(), b.GetSite()) })
	out := &droverv1.AgentServiceListMovesResponse{Missing: s.missing}
	if len(s.found) > n {
		out.NextPageToken = rpc.Token(s.found[n-1].Place)
		s.found = s.found[:n]
	}
	for _, m := range s.found {
		out.Moves = append(out.Moves, s.message(m))
	}
	return out, nil
}

// unheardOf says that there is no site or job of the names that somebody looks for, who
// would else take it that nothing of them was ever moved. Sites that have left are in
// the moves of others.
func (a *Agent) unheardOf(ctx context.Context, want filter) error {
	var sites, jobs error
	if name, asked := want["site"]; asked {
		_, _, sites = a.siteNamed(name)
	}
	if id, asked := want["job"]; asked {
		_, jobs = a.locate(ctx, id)
	}
	for _, err := range []error{sites, jobs} {
		if p, is := errors.AsType[*problem.Problem](err); is && (p.Reason == problem.UnknownSite || p.Reason == problem.UnknownJob) {
			return p
		}
	}
	return nil
}

// moveSearch collects moves from all sites, page by page, until enough are there.
type moveSearch struct {
	a     *Agent
	n     int // moves wanted, and one more tells that there are others
	after *mapping.MovePlace
	want  filter
	ask   int32 // moves to ask of a site at once

	sites   []*mapping.Site
	peers   []*peer
	read    []siteMoves // by site
	moves   []*droverv1.Move
	told    []mapping.Told
	found   []mapping.MergedMove // what the page may show, in order
	missing []*droverv1.Candidate
}

// siteMoves is how far the list of one site has been read.
type siteMoves struct {
	begun, ended bool
	token        string
	count        int
	oldest       int64 // of those read
}

func newMoveSearch(a *Agent, n int, after *mapping.MovePlace, want filter) *moveSearch {
	s := &moveSearch{a: a, n: n, after: after, want: want}
	s.ask = int32(min(max(2*n, 2*rpc.DefaultPage), rpc.LargestPage))
	if after != nil {
		s.ask = rpc.LargestPage // what was shown before comes first
	}
	s.sites, s.peers = a.known()
	s.read = make([]siteMoves, len(s.sites))
	return s
}

// unread says whether a site may still have a move for the page.
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

// turn reads one more page of each site that may have a move for the page.
func (s *moveSearch) turn(ctx context.Context) error {
	var (
		at    []int
		sites []*mapping.Site
		peers []*peer
		index = make(map[*mapping.Site]int)
	)
	for i := range s.sites {
		if s.unread(i) {
			index[s.sites[i]] = i
			at, sites, peers = append(at, i), append(sites, s.sites[i]), append(peers, s.peers[i])
		}
	}
	filter := ""
	if job, ok := s.want["job"]; ok {
		filter = "job=" + job
	}
	results := ask(ctx, s.a.patienceFor(ctx, 0), sites, peers,
		func(ctx context.Context, site *mapping.Site, p *peer) result[*droverv1.ServerServiceListMovesResponse] {
			res, err := p.client.ListMoves(ctx, &droverv1.ServerServiceListMovesRequest{
				PageSize: s.ask, PageToken: s.read[index[site]].token, Filter: filter,
			})
			if err != nil {
				return failed[*droverv1.ServerServiceListMovesResponse](ctx, err)
			}
			return result[*droverv1.ServerServiceListMovesResponse]{value: res}
		})
	if err := ctx.Err(); err != nil {
		return err
	}
	for k, r := range results {
		i := at[k]
		switch r.missing {
		case mapping.Answered:
			if err := s.take(i, r.value); err != nil {
				return err
			}
		case mapping.Refused: // the question is wrong, not the site
			return r.problem
		default:
			s.read[i].ended = true
			s.missing = append(s.missing, &droverv1.Candidate{
				Site: s.sites[i].Name, Missing: missingMessage(r.missing, r.problem),
			})
		}
	}
	s.merge()
	return nil
}

// take adds one page of one site.
func (s *moveSearch) take(i int, page *droverv1.ServerServiceListMovesResponse) error {
	r := &s.read[i]
	for _, m := range page.GetMoves() {
		r.oldest = microsIn(m.GetOrderedAt())
		s.told = append(s.told, mapping.Told{
			Teller: s.sites[i].Name, Job: m.GetJobId(), Epoch: m.GetEpoch(), From: m.GetFrom(), Ordered: r.oldest,
			Settled:  m.GetState() == droverv1.MoveState_MOVE_STATE_MOVED || m.GetState() == droverv1.MoveState_MOVE_STATE_ABORTED,
			Realised: m.GetRealisedGain() != nil, Index: int32(len(s.moves)),
		})
		s.moves = append(s.moves, m)
	}
	r.begun, r.token = true, page.GetNextPageToken()
	r.ended = r.token == "" || len(page.GetMoves()) == 0
	if r.count += len(page.GetMoves()); !r.ended && r.count >= mostMoves {
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "page_token", Message: fmt.Sprintf("site %s has more than %d moves before this page", s.sites[i].Name, mostMoves),
			Accepted: "a filter by job, or the site's own list",
		}
	}
	return nil
}

// merge makes found anew.
func (s *moveSearch) merge() {
	s.found = slices.DeleteFunc(mapping.MergeMoves(s.told), func(m mapping.MergedMove) bool {
		w := s.moves[m.Index]
		site, asked := s.want["site"]
		return s.after != nil && m.Place.Compare(*s.after) <= 0 ||
			asked && w.GetFrom() != site && w.GetTo() != site ||
			!s.want.allows("state", moveStates[w.GetState()])
	})
}

// message returns a move with the time by which the list is ordered.
func (s *moveSearch) message(m mapping.MergedMove) *droverv1.Move {
	w := s.moves[m.Index]
	if microsIn(w.GetOrderedAt()) != m.Place.Ordered {
		w = proto.CloneOf(w)
		w.OrderedAt = microsOut(m.Place.Ordered)
	}
	return w
}

var moveStates = map[droverv1.MoveState]string{
	droverv1.MoveState_MOVE_STATE_PENDING: "pending",
	droverv1.MoveState_MOVE_STATE_MOVED:   "moved",
	droverv1.MoveState_MOVE_STATE_ABORTED: "aborted",
}
