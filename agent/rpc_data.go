package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// mostAsked bounds the handles of one question, as servers do.
const mostAsked = 1000

// getData asks one server for data.
func getData(ctx context.Context, p *peer, ids []string) result[*droverv1.GetDataResponse] {
	res, err := p.client.GetData(ctx, &droverv1.GetDataRequest{Ids: ids})
	if err != nil {
		return failed[*droverv1.GetDataResponse](ctx, err)
	}
	return result[*droverv1.GetDataResponse]{value: res}
}

// holdingsIn translates what a server says of data.
func holdingsIn(r result[*droverv1.GetDataResponse]) result[holdings] {
	out := result[holdings]{missing: r.missing, problem: r.problem}
	for _, d := range r.value.GetData() {
		out.value.here = append(out.value.here, holding{
			id: d.GetId(), sha256: d.GetContent().GetSha256(), size: max(d.GetContent().GetSizeBytes(), 0),
			sticky: d.GetMode() == droverv1.DataMode_DATA_MODE_STICKY, copy: d.GetCopy(),
		})
	}
	for _, g := range r.value.GetGone() {
		if out.value.gone == nil {
			out.value.gone = make(map[string]string)
		}
		out.value.gone[g.GetId()] = g.GetMessage()
	}
	return out
}

// stockOf finds out where the data are that a request names by handles; nil if it names
// none.
func (a *Agent) stockOf(ctx context.Context, patience time.Duration, r *droverv1.Request) (*stock, error) {
	fields := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(r.GetArguments())) {
		if id := contentOf(r.GetArguments()[name]).GetDataId(); id != "" && fields[id] == "" {
			fields[id] = "request.arguments." + name
		}
	}
	switch {
	case len(fields) == 0:
		return nil, nil
	case len(fields) > mostAsked:
		return nil, &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.arguments", Message: fmt.Sprintf("%d handles", len(fields)), Accepted: fmt.Sprintf("at most %d handles", mostAsked),
		}
	}
	ids := slices.Sorted(maps.Keys(fields))
	return a.lookAround(ctx, patience, ids, fields, func(ctx context.Context, p *peer) result[holdings] { return holdingsIn(getData(ctx, p, ids)) })
}

// filled returns a request that says of its data what they are, for sites that do not
// have them.
func (st *stock) filled(r *droverv1.Request) *droverv1.Request {
	out := proto.CloneOf(r)
	for _, v := range out.GetArguments() {
		f := contentOf(v)
		for i := range st.facts {
			if h := &st.facts[i]; f.GetDataId() == h.id {
				f.Sha256, f.SizeBytes = cmp.Or(f.GetSha256(), h.sha256), cmp.Or(f.GetSizeBytes(), h.size)
			}
		}
	}
	return out
}

// FindData asks the servers which of them have data.
func (f face) FindData(ctx context.Context, req *droverv1.FindDataRequest) (*droverv1.FindDataResponse, error) {
	sites, peers := f.a.known()
	results := ask(ctx, f.a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[*droverv1.GetDataResponse] {
		return getData(ctx, p, []string{req.GetId()})
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &droverv1.FindDataResponse{}
	said := make([]result[holdings], len(results))
	var silent []silence
	for i := range results {
		r := &results[i]
		said[i] = holdingsIn(*r)
		switch {
		case r.missing == mapping.Refused && r.problem.Reason == problem.BadValue: // the handle is wrong, not the site
			return nil, r.problem
		case r.missing != mapping.Answered:
			silent = append(silent, silence{sites[i].Name, r.missing, r.problem})
			out.Missing = append(out.Missing, &droverv1.Candidate{Site: sites[i].Name, Missing: missingMessage(r.missing, r.problem)})
			continue
		}
		for _, d := range r.value.GetData() {
			d.Site = sites[i].Name
			out.Data = append(out.Data, &droverv1.LocatedData{Data: d, Address: sites[i].Address})
		}
	}
	if len(out.GetData()) == 0 {
		return nil, f.a.nowhere(req.GetId(), "id", said, silent)
	}
	slices.SortStableFunc(out.GetData(), func(a, b *droverv1.LocatedData) int {
		copies := func(d *droverv1.LocatedData) int {
			if d.GetData().GetCopy() {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(copies(a), copies(b)), strings.Compare(a.GetData().GetSite(), b.GetData().GetSite()))
	})
	return out, nil
}

// dataPosition is where the next page of data begins.
type dataPosition struct {
	From  string `json:"f"`           // the site
	Inner string `json:"i,omitempty"` // the token of that site's own server
}

// ListData lists the data of all sites, site by site.
func (f face) ListData(ctx context.Context, req *droverv1.AgentServiceListDataRequest) (*droverv1.AgentServiceListDataResponse, error) {
	n, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	var at dataPosition
	if err := rpc.ParseToken(req.GetPageToken(), &at); err != nil {
		return nil, err
	}
	want, err := parseFilter(req.GetFilter(), "site", "id", "owner", "mode", "name")
	if err != nil {
		return nil, err
	}
	var terms []string
	for _, key := range []string{"id", "owner", "mode", "name"} {
		if value, ok := want[key]; ok {
			terms = append(terms, key+"="+value)
		}
	}
	sites, peers := f.a.known()
	results := ask(ctx, f.a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, s *mapping.Site, p *peer) result[*droverv1.ServerServiceListDataResponse] {
		if s.Name < at.From || !want.allows("site", s.Name) {
			return result[*droverv1.ServerServiceListDataResponse]{}
		}
		q := &droverv1.ServerServiceListDataRequest{PageSize: int32(n), Filter: strings.Join(terms, " ")}
		if s.Name == at.From {
			q.PageToken = at.Inner
		}
		res, err := p.client.ListData(ctx, q)
		if err != nil {
			return failed[*droverv1.ServerServiceListDataResponse](ctx, err)
		}
		return result[*droverv1.ServerServiceListDataResponse]{value: res}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &droverv1.AgentServiceListDataResponse{}
	for i, s := range sites {
		if s.Name < at.From || !want.allows("site", s.Name) {
			continue
		}
		r := &results[i]
		switch {
		case r.missing == mapping.Refused: // the filter
			return nil, r.problem
		case r.missing != mapping.Answered:
			out.Missing = append(out.Missing, &droverv1.Candidate{Site: s.Name, Missing: missingMessage(r.missing, r.problem)})
			continue
		}
		// A token inside of a site is its server's to make: a page may be short.
		if len(out.GetData()) > 0 && len(out.GetData())+len(r.value.GetData()) > n {
			out.NextPageToken = rpc.Token(dataPosition{From: s.Name})
			return out, nil
		}
		for _, d := range r.value.GetData() {
			d.Site = s.Name
			out.Data = append(out.Data, d)
		}
		if inner := r.value.GetNextPageToken(); inner != "" {
			out.NextPageToken = rpc.Token(dataPosition{From: s.Name, Inner: inner})
			return out, nil
		}
	}
	return out, nil
}

// RemoveData has data removed at all sites that have them.
func (f face) RemoveData(ctx context.Context, req *droverv1.AgentServiceRemoveDataRequest) (*droverv1.AgentServiceRemoveDataResponse, error) {
	sites, peers := f.a.known()
	results := ask(ctx, f.a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[bool] {
		res, err := p.client.RemoveData(ctx, &droverv1.ServerServiceRemoveDataRequest{Id: req.GetId()})
		if err != nil {
			return failed[bool](ctx, err)
		}
		return result[bool]{value: res.GetData() != nil}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &droverv1.AgentServiceRemoveDataResponse{}
	var silent []string
	for i := range results {
		switch r := &results[i]; {
		case r.missing == mapping.Refused && r.problem.Reason == problem.BadValue: // the handle is wrong, not the site
			return nil, r.problem
		case r.missing != mapping.Answered:
			silent = append(silent, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
		case r.value:
			out.Sites = append(out.Sites, sites[i].Name)
		}
	}
	if len(silent) == 0 {
		return out, nil
	}
	p := &problem.Problem{
		Reason: problem.Unreachable, Retryable: true, Hint: "try again when they answer",
		Message: fmt.Sprintf("data %.70q may be at sites that do not answer (%s)", req.GetId(), strings.Join(silent, "; ")),
	}
	if len(out.GetSites()) > 0 {
		p.Message += "; removed at " + strings.Join(out.GetSites(), ", ")
	}
	return nil, p
}
