package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// mostHandles bounds the handles of one question, as servers do.
const mostHandles = 1000

// holdings is what a site says about data: those that it has, and what became of
// others.
type holdings struct {
	here []rpc.Data
	gone map[string]string
}

// located is where the data are that a request uses.
type located struct {
	stored []mapping.Stored // by handle
	facts  []rpc.Data       // by handle: what the data are
	silent []rpc.Absent     // sites that did not say what they have, by name
}

// locateInput asks all sites for the data that a request names by handles. It returns
// nil if the request names none. The error is a *problem.Problem if some data are
// nowhere.
func (a *Agent) locateInput(ctx context.Context, patience time.Duration, r rpc.Request) (*located, error) {
	fields := r.Handles()
	switch {
	case len(fields) == 0:
		return nil, nil
	case len(fields) > mostHandles:
		return nil, &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.arguments", Message: fmt.Sprintf("%d handles", len(fields)),
			Accepted: fmt.Sprintf("at most %d handles", mostHandles),
		}
	}
	ids := slices.Sorted(maps.Keys(fields))
	sites, results, silent, err := a.askForData(ctx, patience, ids)
	if err != nil {
		return nil, err
	}
	l := &located{silent: silent}
	for _, id := range ids {
		stored, fact := whereIs(id, sites, results)
		if len(stored.Sites) == 0 {
			return nil, a.dataNowhere(id, fields[id], results, silent)
		}
		l.stored, l.facts = append(l.stored, stored), append(l.facts, fact)
	}
	return l, nil
}

// askForData asks all sites for data.
func (a *Agent) askForData(
	ctx context.Context, patience time.Duration, ids []string,
) (sites []*mapping.Site, results []result[holdings], silent []rpc.Absent, err error) {
	sites, peers := a.known()
	results = ask(ctx, patience, sites, peers, func(
		ctx context.Context, _ *mapping.Site, p *rpc.Peer,
	) (holdings, error) {
		here, gone, err := p.GetData(ctx, ids)
		return holdings{here, gone}, err
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	for i := range results {
		switch r := &results[i]; {
		case r.refused(problem.BadValue): // the handle is wrong, not the site
			return nil, nil, nil, r.problem
		case !r.answered():
			silent = append(silent, r.absent(sites[i].Name))
		}
	}
	return sites, results, silent, nil
}

// whereIs returns the sites that have data, and what the data are: as the first site
// says at which they were put, or else the first that has a copy. A site that says
// otherwise has other data.
func whereIs(id string, sites []*mapping.Site, results []result[holdings]) (mapping.Stored, rpc.Data) {
	at := func(i int) rpc.Data {
		for _, d := range results[i].value.here {
			if results[i].answered() && d.ID() == id {
				return d
			}
		}
		return rpc.Data{}
	}
	var fact rpc.Data
	for i := range results {
		if d := at(i); d.Exists() && (!fact.Exists() || fact.Copy() && !d.Copy()) {
			fact = d
		}
	}
	out := mapping.Stored{ID: id, Bytes: fact.Bytes(), Sticky: fact.Sticky()}
	for i := range results {
		if d := at(i); d.Exists() && d.SHA256() == fact.SHA256() && d.Bytes() == fact.Bytes() {
			out.Sites = append(out.Sites, sites[i].Name)
		}
	}
	return out, fact
}

// dataNowhere is the problem of data that no site has that answers.
func (a *Agent) dataNowhere(id, field string, results []result[holdings], silent []rpc.Absent) *problem.Problem {
	text := "no site has data " + id
	for i := range results {
		if why := results[i].value.gone[id]; why != "" {
			text += "; " + why
		}
	}
	names := a.group.Departed(leftFor)
	for _, s := range silent {
		names = append(names, s.Site)
	}
	if len(results) == 0 && len(names) == 0 {
		return noSites(0)
	}
	if len(names) > 0 {
		return &problem.Problem{
			Reason: problem.Unreachable, Field: field, Retryable: true,
			Message: fmt.Sprintf("%s; no answer from %s", text, strings.Join(names, ", ")),
			Hint:    "the data may be at a site that does not answer; try again",
		}
	}
	return &problem.Problem{
		Reason: problem.UnknownData, Field: field, Accepted: "a handle of data that are at some site", Message: text,
		Hint: "drover data list shows the data",
	}
}

// FindData returns the sites that have some data: those where they were put first,
// then by name.
func (a *Agent) FindData(ctx context.Context, id string) ([]rpc.LocatedData, []rpc.Absent, error) {
	sites, results, silent, err := a.askForData(ctx, a.patienceFor(ctx, 0), []string{id})
	if err != nil {
		return nil, nil, err
	}
	var out []rpc.LocatedData
	for i, s := range sites {
		for _, d := range results[i].value.here {
			out = append(out, rpc.LocatedData{Data: d, Target: rpc.Target{Site: s.Name, Address: s.Address}})
		}
	}
	if len(out) == 0 {
		return nil, nil, a.dataNowhere(id, "id", results, silent)
	}
	slices.SortStableFunc(out, func(a, b rpc.LocatedData) int {
		copies := func(d rpc.LocatedData) int {
			if d.Copy() {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(copies(a), copies(b)), strings.Compare(a.Site, b.Site))
	})
	return out, silent, nil
}

// ListData lists the data of all sites, site by site.
func (a *Agent) ListData(ctx context.Context, text string, size int, from rpc.DataPosition) (*rpc.DataPage, error) {
	want, err := parseFilter(text, "site", "id", "owner", "mode", "name")
	if err != nil {
		return nil, err
	}
	terms := want.text("id", "owner", "mode", "name")
	type list struct {
		data []rpc.Data
		next string
	}
	listed := func(s *mapping.Site) bool { return s.Name >= from.Site && want.allows("site", s.Name) }
	sites, results, err := askAll(ctx, a, func(ctx context.Context, s *mapping.Site, p *rpc.Peer) (l list, err error) {
		if !listed(s) {
			return l, nil
		}
		token := ""
		if s.Name == from.Site {
			token = from.Inner
		}
		l.data, l.next, err = p.ListData(ctx, terms, size, token)
		return l, err
	})
	if err != nil {
		return nil, err
	}
	out := &rpc.DataPage{}
	for i, s := range sites {
		if !listed(s) {
			continue
		}
		r := &results[i]
		switch {
		case r.refused(): // the filter is wrong
			return nil, r.problem
		case !r.answered():
			out.Missing = append(out.Missing, r.absent(s.Name))
			continue
		}
		// A page can be short: only a site's server can make a token inside of its list.
		if len(out.Data) > 0 && len(out.Data)+len(r.value.data) > size {
			out.Next = &rpc.DataPosition{Site: s.Name}
			return out, nil
		}
		for _, d := range r.value.data {
			out.Data = append(out.Data, rpc.LocatedData{Data: d, Target: rpc.Target{Site: s.Name, Address: s.Address}})
		}
		if r.value.next != "" {
			out.Next = &rpc.DataPosition{Site: s.Name, Inner: r.value.next}
			return out, nil
		}
	}
	return out, nil
}

// RemoveData removes data at all sites that have them, and returns these sites.
func (a *Agent) RemoveData(ctx context.Context, id string) ([]string, error) {
	sites, results, err := askAll(ctx, a, func(ctx context.Context, _ *mapping.Site, p *rpc.Peer) (bool, error) {
		return p.RemoveData(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	var removed, silent []string
	for i := range results {
		switch r := &results[i]; {
		case r.refused(problem.BadValue): // the handle is wrong, not the site
			return nil, r.problem
		case !r.answered():
			silent = append(silent, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
		case r.value:
			removed = append(removed, sites[i].Name)
		}
	}
	if len(silent) == 0 {
		return removed, nil
	}
	p := &problem.Problem{
		Reason: problem.Unreachable, Retryable: true, Hint: "try again when they answer",
		Message: fmt.Sprintf("data %s may be at sites that do not answer (%s)", quoted(id), strings.Join(silent, "; ")),
	}
	if len(removed) > 0 {
		p.Message += "; removed at " + strings.Join(removed, ", ")
	}
	return nil, p
}
