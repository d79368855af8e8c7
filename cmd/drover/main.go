package main

import (
	"os"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func main() {
	gate()
	attempt()
	os.Exit(run(cmdline.ThisProcess()))
}
