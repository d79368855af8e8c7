package main

import (
	"os"

	proc "github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// gateCmd is there for the error message only: main becomes a gate before it
// looks at flags, as every launch of a job waits for that.
type gateCmd struct{}

func (*gateCmd) Run(*app) error {
	return &usageError{message: "a gate takes no flags", hint: "supervisors start these"}
}

// gate does not return when this process was started as a gate.
func gate() {
	if len(os.Args) == 2 && os.Args[1] == "gate" {
		proc.Gate()
	}
}
