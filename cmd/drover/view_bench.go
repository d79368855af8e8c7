package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
)

type benchView struct {
	Schema           string         `json:"schema"`
	Clients          int            `json:"clients"`
	Rate             float64        `json:"rate"` // asked for; 0: unbounded
	Duration         float64        `json:"duration"`
	Acknowledged     int            `json:"acknowledged"`
	Refused          int            `json:"refused"`
	Refusals         map[string]int `json:"refusals"`
	Latency          latencyView    `json:"latency"`
	AcknowledgedRate float64        `json:"acknowledged_per_second"`
	Completed        int64          `json:"completed"`
	CompletedRate    float64        `json:"completed_per_second"`
	Commits          int64          `json:"commits"`
	CommitRate       float64        `json:"commits_per_second"`
	Syncs            int64          `json:"syncs"`
	SyncRate         float64        `json:"syncs_per_second"`
	Waiting          int            `json:"waiting"`
	Running          int            `json:"running"`
}

type latencyView struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// reasonOf names why a submission was not acknowledged.
func reasonOf(err error) string {
	if _, ok := errors.AsType[*submission.UnknownError](err); ok {
		return "unknown"
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e.Reason
	}
	return "other"
}

func printBench(w io.Writer, v *benchView) {
	t := newTable(w, nil)
	row := func(name, format string, args ...any) { t.AppendRow(table.Row{name, fmt.Sprintf(format, args...)}) }
	ms := func(s float64) string {
		return fmt.Sprintf("%.1fms", time.Duration(s*float64(time.Second)).Seconds()*1000)
	}
	offered := "unbounded"
	if v.Rate > 0 {
		offered = fmt.Sprintf("%g/s", v.Rate)
	}
	row("clients", "%d", v.Clients)
	row("offered", "%s", offered)
	row("duration", "%.1fs", v.Duration)
	row("acknowledged", "%d, %.0f/s", v.Acknowledged, v.AcknowledgedRate)
	row("refused", "%d", v.Refused)
	for _, reason := range slices.Sorted(maps.Keys(v.Refusals)) {
		row("  "+reason, "%d", v.Refusals[reason])
	}
	row("latency", "p50 %s, p90 %s, p99 %s, max %s", ms(v.Latency.P50), ms(v.Latency.P90), ms(v.Latency.P99), ms(v.Latency.Max))
	row("completed", "%d, %.0f/s", v.Completed, v.CompletedRate)
	row("commits", "%d, %.0f/s", v.Commits, v.CommitRate)
	row("syncs", "%d, %.0f/s", v.Syncs, v.SyncRate)
	row("queue", "%d waiting, %d running", v.Waiting, v.Running)
	t.Render()
}
