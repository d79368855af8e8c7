package cmdline

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// Process is everything a command knows of the operating system. A test makes one to
// run a command in its own process.
type Process struct {
	Args           []string // without the program's name
	Getenv         func(name string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       bool       // Stderr is a terminal
	Width          func() int // columns of the terminal; nil or 0 if unknown
	// Signals returns a context that ends with the first SIGINT or SIGTERM.
	Signals func(context.Context) (context.Context, context.CancelFunc)
}

// ThisProcess returns the process that is running.
func ThisProcess() *Process {
	return &Process{
		Args:     os.Args[1:],
		Getenv:   os.Getenv,
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Width: func() int {
			columns, _, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 0
			}
			return columns
		},
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		},
	}
}

// Columns returns the width of the terminal, 0 if unknown.
func (p *Process) Columns() int {
	if p.Width == nil {
		return 0
	}
	return p.Width()
}
