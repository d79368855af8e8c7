package main

import (
	"fmt"
	"runtime"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// apiVersion is the version of drover.v1 that this program speaks.
const apiVersion = 1

type versionCmd struct{}

type versionJSON struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	API     int    `json:"api"`
}

func (*versionCmd) Run(a *app) error { return printVersion(a.Process, a.flags.JSON) }

func printVersion(p *cmdline.Process, asJSON bool) error {
	v := versionJSON{Version: cmdline.BuiltFrom(), Go: runtime.Version(), API: apiVersion}
	if asJSON {
		return cmdline.WriteJSON(p.Stdout, v)
	}
	_, err := fmt.Fprintf(p.Stdout, "drover %s %s, API %d\n", v.Version, v.Go, v.API)
	return err
}
