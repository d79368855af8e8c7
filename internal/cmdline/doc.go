// Package cmdline holds what the command lines of drover and drover-lab share: the
// process they see, the parser's setup, exit codes, and how they print.
//
//	main ── Process (args, environment, streams, signals) ──▶ parser ──▶ a command
//	                                                                      │
//	exit code ◀── Output.Check, Code ◀──────────── error ◀────────────────┘
//
// It knows no command. Each program keeps its own flags, and exit codes for errors that
// only its commands return.
package cmdline
