package client

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Keep has data of the job stay at its site: what goes in once the job is accepted,
// what comes out once it is done. An empty mode is DataPersistent. The job's Kept says
// under which handle, which is good for other requests from then on.
func Keep(argument string, mode DataMode) Arg {
	return func(r *request) { r.keep = append(r.keep, keep{argument: argument, mode: mode}) }
}

// keep is a wish to have data of one argument stay.
type keep struct {
	argument string
	id       string
	mode     DataMode
}

// nameKept gives what is to be kept its handles, and refuses what cannot be.
func (r *request) nameKept() error {
	seen := make(map[string]bool)
	for i := range r.keep {
		k := &r.keep[i]
		var err error
		if k.mode, err = ParseDataMode(string(k.mode)); err != nil {
			return fmt.Errorf("keep %s: %w", k.argument, err)
		}
		if k.argument == "" || seen[k.argument] {
			return &problem.Problem{
				Reason: problem.BadValue, Field: "request.keep", Accepted: "names of arguments, each once", Message: fmt.Sprintf("keep %q", k.argument),
			}
		}
		seen[k.argument] = true
		if k.id, err = newHandle(); err != nil {
			return err
		}
	}
	return nil
}
