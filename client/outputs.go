package client

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// checkOutputs refuses outputs that a person typed and the service does not have.
func (r *request) checkOutputs(described *Service) error {
	for _, o := range r.outputs {
		if a := described.Argument(o.argument); !o.typed || a != nil && a.Type.Written() {
			continue
		}
		var names []string
		for i := range described.Arguments {
			if a := &described.Arguments[i]; a.Type.Written() {
				names = append(names, a.Name)
			}
		}
		accepted := "none: nothing comes out of it"
		if len(names) > 0 {
			accepted = "one of " + strings.Join(names, ", ")
		}
		return &problem.Problem{
			Reason: problem.UnknownOutput, Field: "request.arguments." + o.argument, Accepted: accepted,
			Message: fmt.Sprintf("service %s: output %q, accepted: %s", described.Name, o.argument, accepted),
		}
	}
	return nil
}

// whole refuses content that is not as large as the array is that it should be.
func (f *file) whole() error {
	if f.block == nil {
		return nil
	}
	want, err := f.block.Bytes()
	if err == nil && f.size != want {
		err = &problem.Problem{
			Reason: problem.WrongDimensions, Accepted: fmt.Sprintf("%d bytes", want),
			Message: fmt.Sprintf("the content of %s has %d bytes", f.block, f.size),
		}
	}
	return err
}
