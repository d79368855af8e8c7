// Package slurmtest runs real Slurm clusters on loopback, for tests. Package slurmd,
// whose documentation has the picture, does the work; here is what a test wants of it:
// clusters that end with the test, calls that fail it, and a controller's state to be
// taken away from it.
//
// Several tests and test processes may have clusters at once. A controller can be
// stopped, killed and started again.
//
// StartAccounted gives them a slurmdbd besides, with a database of its own: jobs
// are accounted for, there are accounts and qualities of service, and sbatch
// chooses among clusters.
//
// Without Slurm, or without root, which its daemons want, tests are skipped and
// say so; with SLURMTEST_REQUIRED set they fail. install.sh installs what is
// missing on Debian.
package slurmtest
