// Package externaltest tests implementations of external.Cluster. Run has the behavior
// that Drover expects of every external batch system; a package such as batch/slurm runs
// it on a real cluster.
//
//	Rig: a cluster, and what its other users and its operator do to it
//	Site: a System on the cluster; its scripts claim attempts by hard links
package externaltest
