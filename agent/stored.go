package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// holding is data that a site has.
type holding struct {
	id     string
	sha256 string
	size   int64 // bytes
	sticky bool
	copy   bool
}

// holdings is what a site says of data: those that it has, and what became of others.
type holdings struct {
	here []holding
	gone map[string]string
}

// stock is where the data are that a request uses.
type stock struct {
	data   []mapping.Stored // in the order of the question
	facts  []holding        // likewise
	silent []silence        // who did not say what they have, by name
}

// silence is a site that did not answer a question.
type silence struct {
	site    string
	missing mapping.Missing
	problem *problem.Problem
}

// lookAround asks all sites for data, and returns where they are. The error is a
// *problem.Problem when nobody has some of them.
func (a *Agent) lookAround(ctx context.Context, patience time.Duration, ids []string, fields map[string]string,
	call func(context.Context, *peer) result[holdings],
) (*stock, error) {
	sites, peers := a.known()
	results := ask(ctx, patience, sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[holdings] { return call(ctx, p) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st := &stock{}
	for i := range results {
		switch r := &results[i]; {
		case r.missing == mapping.Refused && r.problem.Reason == problem.BadValue: // the handle is wrong, not the site
			return nil, r.problem
		case r.missing != mapping.Answered:
			st.silent = append(st.silent, silence{sites[i].Name, r.missing, r.problem})
		}
	}
	for _, id := range ids {
		data, fact := where(id, sites, results)
		if len(data.Sites) == 0 {
			return nil, a.nowhere(id, fields[id], results, st.silent)
		}
		st.data, st.facts = append(st.data, data), append(st.facts, fact)
	}
	return st, nil
}

// where returns the sites that have data. What they are is said by the first site at
// which they were put, or else by the first that has a copy; who says otherwise has
// others.
func where(id string, sites []*mapping.Site, results []result[holdings]) (mapping.Stored, holding) {
	var fact holding
	find := func(r *result[holdings]) *holding {
		for i := range r.value.here {
			if r.missing == mapping.Answered && r.value.here[i].id == id {
				return &r.value.here[i]
			}
		}
		return nil
	}
	for i := range results {
		if h := find(&results[i]); h != nil && (fact.id == "" || fact.copy && !h.copy) {
			fact = *h
		}
	}
	out := mapping.Stored{ID: id, Bytes: fact.size, Sticky: fact.sticky}
	for i := range results {
		if h := find(&results[i]); h != nil && h.sha256 == fact.sha256 && h.size == fact.size {
			out.Sites = append(out.Sites, sites[i].Name)
		}
	}
	return out, fact
}

// nowhere says that nobody who answers has data.
func (a *Agent) nowhere(id, field string, results []result[holdings], silent []silence) *problem.Problem {
	text := fmt.Sprintf("no site has data %s", id)
	for i := range results {
		if told := results[i].value.gone[id]; told != "" {
			text += "; " + told
		}
	}
	names := a.lately()
	for _, s := range silent {
		names = append(names, s.site)
	}
	if len(results) == 0 && len(names) == 0 {
		return noSites(0)
	}
	if len(names) > 0 {
		return &problem.Problem{
			Reason: problem.Unreachable, Field: field, Retryable: true,
			Message: fmt.Sprintf("%s; no answer from %s", text, strings.Join(names, ", ")), Hint: "the data may be at a site that is silent; try again",
		}
	}
	return &problem.Problem{
		Reason: problem.UnknownData, Field: field, Accepted: "a handle of data that are at some site", Message: text,
		Hint: "drover data list shows what there is",
	}
}

// travel returns how long the input of a request needs to a site, or why the data that
// it uses cannot go there.
func (a *Agent) travel(q *inquiry, site string) (batch.Duration, *problem.Problem) {
	d, stuck := a.links.Gather(q.from, site, q.input, q.stored())
	if stuck == nil {
		return d, nil
	}
	return d, &problem.Problem{
		Reason: problem.StickyData, Message: fmt.Sprintf("data %s are sticky: they stay at site %s", stuck.ID, strings.Join(stuck.Sites, ", ")),
		Hint: "put them as persistent data, or where the service is offered",
	}
}

// stored returns the data that a request uses.
func (q *inquiry) stored() []mapping.Stored {
	if q.stock == nil {
		return nil
	}
	return q.stock.data
}
