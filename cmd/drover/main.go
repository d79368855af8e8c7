package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	gate()
	attempt()
	os.Exit(run(&process{
		args:   os.Args[1:],
		getenv: os.Getenv,
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		// A progress line needs somebody who sees it.
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		width: func() int {
			columns, _, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 0
			}
			return columns
		},
		signals: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		},
	}))
}
