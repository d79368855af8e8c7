package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// apiVersion is the version of drover.v1 that this program speaks.
const apiVersion = 1

type versionCmd struct{}

func (*versionCmd) Run(a *app) error { return printVersion(a.process, a.flags.JSON) }

// printVersion prints what the Go tool has noted when it built this program.
func printVersion(p *process, asJSON bool) error {
	version := builtFrom()
	if asJSON {
		return writeJSON(p.stdout, versionView{Schema: "drover.version/1", Version: version, Go: runtime.Version(), API: apiVersion})
	}
	_, err := fmt.Fprintf(p.stdout, "drover %s %s, API %d\n", version, runtime.Version(), apiVersion)
	return err
}

// builtFrom returns the version of this program's source, as far as it is known.
func builtFrom() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
