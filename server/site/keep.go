package site

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Keep has the data of an argument stay at the site.
type Keep struct {
	ID   string `json:"id"`   // the handle that they get
	Mode string `json:"mode"` // how long they stay, as package depot calls it
}

// mostKeeps bounds how many data a request may keep.
const mostKeeps = 1000

// validateKeep refuses handles that are none, or that two data would get.
func (r *Request) validateKeep() error {
	if len(r.Keep) > mostKeeps {
		return problem.Field(problem.OutOfRange, "request.keep", fmt.Sprintf("at most %d", mostKeeps), "%d arguments", len(r.Keep))
	}
	seen := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(r.Keep)) {
		k := r.Keep[name]
		field := "request.keep." + name + ".data_id"
		if _, err := CheckID(k.ID); err != nil {
			return problem.Field(problem.BadValue, field, "a lower-case UUIDv7", "%.70q", k.ID)
		}
		if other, twice := seen[k.ID]; twice {
			return problem.Field(problem.BadValue, field, "a handle of its own for each argument", "%s, which %s gets", k.ID, other)
		}
		seen[k.ID] = name
	}
	return nil
}

// asSent returns the request without what a server has found out about the data that
// it names: a submission that is repeated when they are gone is the same one.
func (r *Request) asSent() Request {
	sent := *r
	sent.Sticky = false
	copied := false
	for name, v := range r.Arguments {
		id := v.File().Data
		if id == "" {
			continue
		}
		if !copied {
			sent.Arguments, copied = maps.Clone(r.Arguments), true
		}
		sent.Arguments[name] = catalogue.FileIn(catalogue.File{Data: id})
	}
	return sent
}
