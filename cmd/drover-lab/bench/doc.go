// Package bench compares two ways of running the same jobs on equal clusters: by
// Drover, and by Slurm's own rule for several clusters.
//
//	Generate(seed) ──▶ jobs ──┬─▶ Play(one side) ──▶ clusters A  ──▶ runs ──┐
//	                          └─▶ Play(the other) ─▶ clusters A' ──▶ runs ──┴─▶ Compare
//
// # The rule
//
// Slurm submits a job that may run on several clusters to the one that says it would
// start it first, and never moves it again (Slurm's manual, "Multi-Cluster
// Operation"). sbatch --clusters finds out by asking each controller in turn the
// question that sbatch --test-only asks; ties go to the cluster where sbatch was
// called, then to the first one. That needs slurmdbd, which tells sbatch where the
// controllers are. Earliest is the rule without it: the same questions in the same
// order, the same choice, and a plain sbatch there.
//
// # Words
//
// A job belongs to the grid, and may run on any cluster, or to a local user of one.
// Its runtime is what it really takes, its walltime what its user asks for. A run is
// what has become of it: submitted, begun and ended on one clock, as the job itself has
// written it down. Response is from submission to end, slowdown that over the runtime.
package bench
