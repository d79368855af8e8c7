// Package slurmd runs private Slurm clusters on loopback: for tests, which use
// internal/slurmtest, and for benchmarks that need clusters of their own.
//
//	Open() ─▶ munged ◀── slurmctld A ◀── slurmd a1, a2, …   (own ports,
//	               ▲                                         own state,
//	               └──── slurmctld B ◀── slurmd b1, …        own directory)
//
// A Host is a directory and the authentication that its clusters share. Each cluster
// has a slurmctld and one slurmd for each node; nodes have the processors that they
// are said to have, whatever this machine has. The daemons are children of this
// process, are found and ended by their numbers, and die with it.
//
// What the daemons are given to run outlives them: slurmstepd is looked for by the
// directory that it has open, and ended by Close.
//
// Slurm's daemons want root. Lacks says what is missing where there can be none.
package slurmd
