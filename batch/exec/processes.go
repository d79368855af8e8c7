package exec

import (
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// processes launches real process groups, children of this process.
type processes struct{ log hclog.Logger }

func (p processes) Launch(spec Spec) (Launched, error) {
	g, err := process.Start(process.Spec{
		Args: spec.Args, Env: spec.Env, Dir: spec.Dir, Stdout: spec.Stdout, Stderr: spec.Stderr, Append: spec.Append,
	})
	if err != nil {
		var start *process.StartError
		if errors.As(err, &start) {
			p.log.Debug("launch failed", "part", start.Part, "error", start.Err)
		}
		return nil, err
	}
	return group{Group: g, log: p.log}, nil
}

// group is a process group as the loop wants it.
type group struct {
	*process.Group
	log hclog.Logger
}

func (g group) Wait() Exit {
	exit := g.Group.Wait()
	if exit.Left {
		g.log.Error("killed process group does not disappear, giving its processors back", "waited", process.GoneWait)
	}
	return Exit{Code: exit.Code, Signal: exit.Signal}
}
