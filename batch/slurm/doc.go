// Package slurm makes an unmodified Slurm cluster an external.Cluster, through Slurm's
// client programs: sbatch, squeue, scontrol, scancel, sinfo, sacct and sacctmgr. It runs
// them and parses what they print; package external does everything else.
//
//	Submit ──▶ sbatch          Control ──▶ scontrol uhold, release; scancel
//	List ────▶ squeue          Nodes ────▶ sinfo
//	Lookup ──▶ squeue -t all   History ──▶ sacct, or the file of jobcomp/filetxt
//	Describe ▶ scontrol show config, show partition; sbatch --test-only; sacctmgr
//
// Slurm counts time limits in whole minutes, rounded up.
//
// Names and comments of other users' jobs can contain any text, newlines too. Fields of
// an output are therefore separated by a random token that is made for one command.
package slurm
