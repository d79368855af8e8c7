// Package slurm is a site's batch system that is Slurm, unmodified, used through
// its commands.
package slurm
