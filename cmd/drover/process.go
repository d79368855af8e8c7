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
	terminal       bool // stderr is one
	// signals returns a context that ends with the first SIGINT or SIGTERM.
	signals func(context.Context) (context.Context, context.CancelFunc)
}
