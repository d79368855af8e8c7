package main

import (
	"os"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
)

// attemptCmd is there for the error message only, like gateCmd: the batch scripts of
// sites under Slurm begin with it.
type attemptCmd struct{}

func (*attemptCmd) Run(*app) error {
	return &usageError{message: "an attempt takes the file of its order", hint: "batch scripts of servers start these"}
}

// attempt does not return when this process was started to run an attempt.
func attempt() {
	if len(os.Args) == 3 && os.Args[1] == "attempt" {
		os.Exit(solo.Run(os.Args[2], os.Stdin, os.Stderr))
	}
}
