package main

import (
	"context"
	"io"
)

// process is all that a command knows of the world around it.
type process struct {
	args           []string // without the program's name
	getenv         func(name string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       bool       // stderr is one
	width          func() int // of the terminal, in columns; nil or 0 when it is not known
	// signals returns a context that ends with the first SIGINT or SIGTERM.
	signals func(context.Context) (context.Context, context.CancelFunc)
}

// columns returns how wide the terminal is, 0 when that is not known.
func (p *process) columns() int {
	if p.width == nil {
		return 0
	}
	return p.width()
}
