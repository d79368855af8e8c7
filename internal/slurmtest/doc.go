// Package slurmtest runs real Slurm clusters on loopback for tests, with package slurmd.
// Clusters end with the test, failed calls fail the test, and a controller can be
// stopped, killed, restarted, or restored to an earlier state.
//
// Several tests and test processes can have clusters at the same time. StartAccounted
// adds a slurmdbd with its own database, for accounting, accounts, QOS and
// sbatch --clusters.
//
// Tests are skipped, with a message, on machines without Slurm or without root. With
// SLURMTEST_REQUIRED set they fail instead. install.sh installs Slurm on Debian.
package slurmtest
