// Package slurmd runs private Slurm clusters on loopback, for tests (see
// internal/slurmtest) and benchmarks.
//
//	Open() ─▶ munged ◀── slurmctld A ◀── slurmd a1, a2, …   (own ports,
//	               ▲                                         own state,
//	               └──── slurmctld B ◀── slurmd b1, …        own directory)
//
// A Host is a directory with the authentication that its clusters share. Each cluster
// has a slurmctld and a slurmd per node. Nodes have the configured number of processors,
// independent of the machine. The daemons are children of this process and die with it.
//
// Jobs can outlive their daemons: Close finds each slurmstepd by the directory that it
// has open, and kills it with its children.
//
// Slurm's daemons need root. Lacks reports what a machine lacks.
package slurmd
