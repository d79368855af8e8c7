package main

import (
	"os"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func main() {
	becomeGate()
	becomeAttempt()
	os.Exit(run(cmdline.ThisProcess()))
}
