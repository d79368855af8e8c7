// Command drover is a whole grid in one binary: the client's commands, the
// agent, the server of a site, the simulator and the bundled services.
//
//	main ── process (args, environment, streams, signals) ──▶ run ──▶ a command
//
// It is a thin shell over the packages of the module. Only main.go knows the
// operating system; everything else is given a process, so that a test can run
// any command within itself. What each command prints and exits with is
// described in docs/cli.md.
package main
