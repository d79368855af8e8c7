// Command drover is a whole grid in one binary: the client's commands, the agent, the
// server of a site, the simulator and the bundled services.
//
//	main ── cmdline.Process (args, environment, streams, signals) ──▶ run ──▶ a command
//	                                                                          │
//	exit code ◀── report: message and hint, or errorJSON ◀── error ◀──────────┘
//
// Each command has a file with its name. cli.go holds the command line, request.go the
// flags of a request, selector.go the ways to name jobs, report.go and exit.go errors and
// exit codes. Commands parse flags and print results. They do not check what the grid
// checks, and their JSON is that of the client's types. docs/cli.md describes them.
package main
