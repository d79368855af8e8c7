package main

import (
	"fmt"
	"runtime"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// apiVersion is the version of drover.v1 that this program speaks.
const apiVersion = 1

type versionCmd struct{}

func (*versionCmd) Run(a *app) error { return printVersion(a.Process, a.flags.JSON) }

// printVersion prints what the Go tool has noted when it built this program.
func printVersion(p *cmdline.Process, asJSON bool) error {
	version := cmdline.BuiltFrom()
	if asJSON {
		return cmdline.WriteJSON(p.Stdout, versionView{Schema: "drover.version/1", Version: version, Go: runtime.Version(), API: apiVersion})
	}
	_, err := fmt.Fprintf(p.Stdout, "drover %s %s, API %d\n", version, runtime.Version(), apiVersion)
	return err
}
