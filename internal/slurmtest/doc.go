// Package slurmtest runs real Slurm clusters on loopback, for tests.
//
//	Start(t, A, B) ─▶ munged ◀── slurmctld A ◀── slurmd a1, a2, …   (own ports,
//	                       ▲                                         own state,
//	                       └──── slurmctld B ◀── slurmd b1, …        own directory)
//
// Each cluster has a slurmctld and one slurmd for each node. They are children of
// the test's process, found and ended by their numbers, and die with it. Several
// tests and test processes may have clusters at once. A controller can be stopped,
// killed and started again.
//
// What the daemons are given to run outlives them: slurmstepd is looked for by the
// directory that it has open, and ended when the test ends.
//
// StartAccounted gives them a slurmdbd besides, with a database of its own: jobs
// are accounted for, there are accounts and qualities of service, and sbatch
// chooses among clusters.
//
// Without Slurm, or without root, which its daemons want, tests are skipped and
// say so; with SLURMTEST_REQUIRED set they fail. install.sh installs what is
// missing on Debian.
package slurmtest
