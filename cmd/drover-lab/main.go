// Command drover-lab measures Drover and holds its policies against the papers they come
// from. It is a tool for developers; no grid needs it.
//
//	drover-lab repro reallocation|dynp|overbooking|dfrs|convergent   a paper's figures and claims beside ours
//	drover-lab repro growth                                          a chart of any CSV file
//	drover-lab rounds                                                what a round of reallocation costs
//	drover-lab bench submit|transfer|versus-slurm                    a live grid, also beside Slurm
//
// The experiments are in papers, growth and bench; this package reads flags and prints.
// The benchmarks start the program drover.
package main

import (
	"os"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func main() { os.Exit(run(cmdline.ThisProcess())) }
