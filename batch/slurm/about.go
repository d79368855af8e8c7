package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Version is that of Slurm's programs: major is the year and the month, 22 and 5.
type Version struct{ Year, Month int }

// String writes it as Slurm does.
func (v Version) String() string { return fmt.Sprintf("%d.%02d", v.Year, v.Month) }

// Before says whether v is older.
func (v Version) Before(w Version) bool {
	return v.Year < w.Year || v.Year == w.Year && v.Month < w.Month
}

// Oldest is the first version that this package was written for.
var Oldest = Version{20, 11}

// Partition is a queue of Slurm's and what may be had of it.
type Partition struct {
	Name     string
	Up       bool
	Default  bool
	MaxTime  batch.Duration // batch.Forever: no limit
	MaxNodes int32          // of one job; 0: no limit
	PerNode  int32          // processors of a node that its jobs may have; 0: no limit
	CPUs     int32
	Nodes    int32
	// Shared says that jobs may share processors, so that a count of free ones says
	// less than it seems to.
	Shared bool
	// Whole says that jobs get whole nodes.
	Whole bool
}

// Plugins that keep what jobs have ended.
const (
	slurmdbd = "accounting_storage/slurmdbd"
	filetxt  = "jobcomp/filetxt"
)

// Settings are those of the cluster that matter here.
type Settings struct {
	Version    Version
	Cluster    string
	Accounting string // plugin: accounting_storage/slurmdbd
	JobComp    string // plugin: jobcomp/filetxt
	JobCompLoc string // its file
	Scheduler  string
	Select     string // plugin of node selection
	MinJobAge  batch.Duration
	MaxJobs    int32
	PartLimits string // EnforcePartLimits
	Proctrack  string // plugin that follows a job's processes
	Preempt    string
}

// Settings asks the controller for its configuration.
func (c *Commands) Settings(ctx context.Context) (Settings, error) {
	out, err := c.run(ctx, nil, "scontrol", "show", "config")
	if err != nil {
		return Settings{}, fmt.Errorf("settings: %w", err)
	}
	return parseSettings(out)
}

func parseSettings(out string) (Settings, error) {
	values := make(map[string]string)
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	s := Settings{
		Cluster: values["ClusterName"], Accounting: values["AccountingStorageType"], JobComp: values["JobCompType"],
		JobCompLoc: null(values["JobCompLoc"]), Scheduler: values["SchedulerType"], Select: values["SelectType"],
		PartLimits: values["EnforcePartLimits"], Preempt: values["PreemptMode"],
		Proctrack: values["ProctrackType"],
	}
	var ok bool
	if s.Version, ok = parseVersion(values["SLURM_VERSION"]); !ok {
		return Settings{}, &FormatError{Source: "scontrol show config", Field: "SLURM_VERSION", Value: values["SLURM_VERSION"]}
	}
	seconds, _, _ := strings.Cut(values["MinJobAge"], " ")
	if n, ok := parseNumber(seconds); ok {
		s.MinJobAge = batch.Duration(min(n, 1<<31)) * batch.Second
	}
	s.MaxJobs, _ = parseCount(values["MaxJobCount"])
	return s, nil
}

func parseVersion(text string) (Version, bool) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return Version{}, false
	}
	year, okY := parseNumber(parts[0])
	month, okM := parseNumber(parts[1])
	return Version{int(year), int(month)}, okY && okM && year < 1000 && month < 100
}

// Partitions asks for all partitions, with the default one first.
func (c *Commands) Partitions(ctx context.Context) ([]Partition, error) {
	out, err := c.run(ctx, nil, "scontrol", "--oneliner", "show", "partition")
	if err != nil {
		return nil, fmt.Errorf("partitions: %w", err)
	}
	return parsePartitions(out)
}

func parsePartitions(out string) ([]Partition, error) {
	var all []Partition
	for line := range strings.Lines(out) {
		v := pairs(line)
		if v["PartitionName"] == "" {
			continue
		}
		p := Partition{
			Name: v["PartitionName"], Up: v["State"] == "UP", Default: v["Default"] == "YES",
			Shared: strings.HasPrefix(v["OverSubscribe"], "FORCE") || strings.HasPrefix(v["OverSubscribe"], "YES"),
			Whole:  v["OverSubscribe"] == "EXCLUSIVE" || v["ExclusiveUser"] == "YES",
		}
		var ok [5]bool
		p.MaxTime, ok[0] = parseSpan(v["MaxTime"])
		p.MaxNodes, ok[1] = parseMost(v["MaxNodes"])
		p.CPUs, ok[2] = parseCount(v["TotalCPUs"])
		p.Nodes, ok[3] = parseCount(v["TotalNodes"])
		p.PerNode, ok[4] = parseMost(v["MaxCPUsPerNode"])
		if slices.Contains(ok[:], false) {
			return nil, &FormatError{Source: "scontrol show partition", Field: p.Name, Value: strings.TrimSpace(line)}
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Partition) int {
		switch {
		case a.Default == b.Default:
			return 0
		case a.Default:
			return -1
		}
		return 1
	})
	return all, nil
}

// parseMost reads a limit; 0 is none.
func parseMost(text string) (int32, bool) {
	if text == "UNLIMITED" || text == "" {
		return 0, true
	}
	return parseCount(text)
}

// widest returns the processors that one job can have of these nodes.
func (p *Partition) widest(nodes []NodeRow) int32 {
	var each []int32
	for i := range nodes {
		n := nodes[i].CPUs
		if p.PerNode > 0 {
			n = min(n, p.PerNode)
		}
		each = append(each, n)
	}
	slices.SortFunc(each, func(a, b int32) int { return cmp.Compare(b, a) })
	if p.MaxNodes > 0 {
		each = each[:min(len(each), int(p.MaxNodes))]
	}
	sum := int64(0)
	for _, n := range each {
		sum += int64(n)
	}
	return int32(min(sum, batch.MaxProcessors))
}

// pairs reads words of the form KEY=VALUE. A word without one is part of the value
// before it, which nothing here looks at.
func pairs(line string) map[string]string {
	v := make(map[string]string)
	for word := range strings.FieldsSeq(line) {
		if key, value, ok := strings.Cut(word, "="); ok {
			if _, twice := v[key]; !twice {
				v[key] = value
			}
		}
	}
	return v
}
