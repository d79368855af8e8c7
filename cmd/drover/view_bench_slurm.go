package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

type slurmBenchView struct {
	Schema            string          `json:"schema"`
	Clients           int             `json:"clients"`
	Jobs              int             `json:"jobs"`
	Turns             []slurmTurnView `json:"turns"`
	Ratio             float64         `json:"ratio"`              // in Slurm over plain, the median
	AcknowledgedRatio float64         `json:"acknowledged_ratio"` // likewise
}

// slurmTurnView is one turn of plain sbatch and Drover, in submissions per second.
type slurmTurnView struct {
	DroverFirst  bool    `json:"drover_first"`
	Plain        float64 `json:"plain_per_second"`
	Acknowledged float64 `json:"acknowledged_per_second"`
	InSlurm      float64 `json:"in_slurm_per_second"`
}

func printSlurmBench(w io.Writer, v *slurmBenchView) {
	t := newTable(w, table.Row{"turn", "plain sbatch", "drover, acknowledged", "drover, in slurm", "ratio"},
		"turn", "plain sbatch", "drover, acknowledged", "drover, in slurm", "ratio")
	for i, turn := range v.Turns {
		t.AppendRow(table.Row{
			i + 1, fmt.Sprintf("%.0f/s", turn.Plain), fmt.Sprintf("%.0f/s", turn.Acknowledged), fmt.Sprintf("%.0f/s", turn.InSlurm),
			fmt.Sprintf("%.2f", turn.InSlurm/turn.Plain),
		})
	}
	t.Render()
	_, _ = fmt.Fprintf(w, "\n%d jobs by %d submitters each: %.2f times as many submissions per second through Drover as by sbatch, until Slurm has them (%.2f until they are acknowledged)\n",
		v.Jobs, v.Clients, v.Ratio, v.AcknowledgedRatio)
}
