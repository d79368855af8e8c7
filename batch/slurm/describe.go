package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// The facts of a Description.
const (
	factVersion       = "version"
	factCluster       = "cluster"
	factPartition     = "partition"
	factScheduler     = "scheduler"
	factAccounting    = "accounting"
	factCompleted     = "completed_jobs"
	factCompletedFile = "completed_jobs_file"
)

// Describe finds out what the cluster is, with the commands that the server will use
// and one trial submission. Errors are an *external.UnreachableError, or why the
// cluster cannot be used with this configuration.
func (c *Cluster) Describe(ctx context.Context) (external.Description, error) {
	var d external.Description
	if c.cfg.Conf != "" {
		// Without the file Slurm's programs search elsewhere, for longer than the timeout.
		if _, err := os.Stat(c.cfg.Conf); err != nil {
			return d, &external.UnreachableError{Command: "scontrol", Text: err.Error()}
		}
	}
	set, err := c.settings(ctx)
	if err != nil {
		return d, err
	}
	if set.version.before(oldest) {
		return d, fmt.Errorf("version %v of Slurm, accepted: %v and later", set.version, oldest)
	}
	all, err := c.partitions(ctx)
	if err != nil {
		return d, err
	}
	part, err := choosePartition(all, c.cfg.Partition)
	if err != nil {
		return d, err
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return d, err
	}
	usable := nodes.Platform()
	for i := range nodes.List {
		nodes.List[i].Usable = true
	}
	d = external.Description{
		Platform: nodes.Platform(), Usable: usable.Width(),
		MaxWidth: part.widest(nodes.List), MaxPerNode: part.perNode, MaxWalltime: part.maxTime,
		Facts: map[string]string{
			factVersion: set.version.String(), factCluster: set.cluster, factPartition: part.name,
			factScheduler:  set.scheduler,
			factAccounting: set.accounting, factCompleted: set.jobComp, factCompletedFile: set.jobCompFile,
		},
	}
	if err := d.Platform.Validate(); err != nil {
		return external.Description{}, fmt.Errorf("partition %s: %w", part.name, err)
	}
	notes, err := c.checkRights(ctx, &set, c.TrySubmit(ctx, 1, nil))
	if err != nil {
		return external.Description{}, err
	}
	d.Warnings = append(c.warnings(&set, &part, &d), notes...)
	return d, nil
}

// Use makes History read what the described cluster has: accounting, or a file of
// completed jobs. The description can be that of an earlier server process.
func (c *Cluster) Use(d *external.Description) {
	c.database = d.Facts[factAccounting] == slurmdbd
	c.jobComp = ""
	if d.Facts[factCompleted] == filetxt {
		c.jobComp = d.Facts[factCompletedFile]
	}
}

func choosePartition(all []partition, name string) (partition, error) {
	var names []string
	for _, p := range all {
		if p.name == name || name == "" && p.isDefault {
			return p, nil
		}
		names = append(names, p.name)
	}
	if name == "" {
		return partition{}, fmt.Errorf("partition: none is the default, accepted: one of %v", names)
	}
	return partition{}, fmt.Errorf("partition: %q, accepted: one of %v", name, names)
}

// TrySubmit asks Slurm whether it would accept a job of this site with these options,
// without submitting it (sbatch --test-only).
func (c *Cluster) TrySubmit(ctx context.Context, width int32, options []string) error {
	args := []string{"sbatch", "--test-only"}
	args = append(append(args, options...), c.cfg.Extra...)
	args = append(args, "--ntasks="+strconv.Itoa(int(width)), "--time=1")
	args = append(args, c.options()...)
	_, err := c.run(ctx, []byte("#!/bin/sh\n"), args...)
	if refused, ok := errors.AsType[*external.RefusedError](err); ok && refused.Again {
		return nil // it is full for the moment
	}
	if err != nil {
		return fmt.Errorf("trial submission: %w", err)
	}
	return nil
}

// warnings lists the settings that an operator should know about.
func (c *Cluster) warnings(set *settings, part *partition, d *external.Description) []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if !part.up {
		warn("partition %s is not up: its jobs wait", part.name)
	}
	if set.partLimits != "ALL" && set.partLimits != "YES" {
		warn("EnforcePartLimits is %s: jobs that can never run wait forever instead of being refused", set.partLimits)
	}
	if set.minJobAge < 4*batch.Duration(c.cfg.Interval.Microseconds()) {
		warn("MinJobAge is %v: Slurm may forget jobs before a poll sees their end; then their own records count",
			set.minJobAge)
	}
	if set.proctrack == "proctrack/pgid" {
		warn("ProctrackType is %s: programs can outlive their jobs; use proctrack/cgroup", set.proctrack)
	}
	if part.shared {
		warn("partition %s lets jobs share processors: estimates give each job its own", part.name)
	}
	if part.whole {
		warn("partition %s gives jobs whole nodes: estimates count processors", part.name)
	}
	if width := d.Platform.Width(); d.Usable < width {
		warn("%d of %d processors are not usable now", width-d.Usable, width)
	}
	return all
}

// version is that of Slurm: 22.05 has year 22 and month 5.
type version struct{ year, month int }

// oldest is the first version that this package supports.
var oldest = version{20, 11}

// String returns the version as Slurm prints it.
func (v version) String() string { return fmt.Sprintf("%d.%02d", v.year, v.month) }

func (v version) before(w version) bool {
	return v.year < w.year || v.year == w.year && v.month < w.month
}

// settings are the cluster's that matter here.
type settings struct {
	version     version
	cluster     string
	accounting  string // plugin: accounting_storage/slurmdbd
	jobComp     string // plugin: jobcomp/filetxt
	jobCompFile string
	scheduler   string
	selector    string // SelectType
	minJobAge   batch.Duration
	maxJobs     int32
	partLimits  string // EnforcePartLimits
	proctrack   string // plugin that follows a job's processes
	preempt     string // PreemptMode
}

func (c *Cluster) settings(ctx context.Context) (settings, error) {
	out, err := c.run(ctx, nil, "scontrol", "show", "config")
	if err != nil {
		return settings{}, fmt.Errorf("settings: %w", err)
	}
	return parseSettings(out)
}

func parseSettings(out string) (settings, error) {
	values := make(map[string]string)
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	s := settings{
		cluster: values["ClusterName"], accounting: values["AccountingStorageType"], jobComp: values["JobCompType"],
		jobCompFile: null(values["JobCompLoc"]), scheduler: values["SchedulerType"], selector: values["SelectType"],
		partLimits: values["EnforcePartLimits"], preempt: values["PreemptMode"], proctrack: values["ProctrackType"],
	}
	var ok bool
	if s.version, ok = parseVersion(values["SLURM_VERSION"]); !ok {
		return settings{}, &FormatError{
			Source: "scontrol show config", Field: "SLURM_VERSION", Value: values["SLURM_VERSION"],
		}
	}
	seconds, _, _ := strings.Cut(values["MinJobAge"], " ")
	if n, ok := parseNumber(seconds); ok {
		s.minJobAge = batch.Duration(min(n, 1<<31)) * batch.Second
	}
	s.maxJobs, _ = parseCount(values["MaxJobCount"])
	return s, nil
}

func parseVersion(text string) (version, bool) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return version{}, false
	}
	year, okY := parseNumber(parts[0])
	month, okM := parseNumber(parts[1])
	return version{int(year), int(month)}, okY && okM && year < 1000 && month < 100
}

// partition is a queue of Slurm with its limits.
type partition struct {
	name       string
	up         bool
	isDefault  bool
	maxTime    batch.Duration // batch.Forever: no limit
	maxNodes   int32          // of one job; 0: no limit
	perNode    int32          // processors of a node that its jobs can get; 0: no limit
	processors int32
	nodes      int32
	shared     bool // jobs can share processors
	whole      bool // jobs get whole nodes
}

// partitions returns all partitions, the default one first.
func (c *Cluster) partitions(ctx context.Context) ([]partition, error) {
	out, err := c.run(ctx, nil, "scontrol", "--oneliner", "show", "partition")
	if err != nil {
		return nil, fmt.Errorf("partitions: %w", err)
	}
	return parsePartitions(out)
}

func parsePartitions(out string) ([]partition, error) {
	var all []partition
	for line := range strings.Lines(out) {
		v := pairs(line)
		if v["PartitionName"] == "" {
			continue
		}
		p := partition{
			name: v["PartitionName"], up: v["State"] == "UP", isDefault: v["Default"] == "YES",
			shared: strings.HasPrefix(v["OverSubscribe"], "FORCE") || strings.HasPrefix(v["OverSubscribe"], "YES"),
			whole:  v["OverSubscribe"] == "EXCLUSIVE" || v["ExclusiveUser"] == "YES",
		}
		var ok [5]bool
		p.maxTime, ok[0] = parseSpan(v["MaxTime"])
		p.maxNodes, ok[1] = parseLimit(v["MaxNodes"])
		p.processors, ok[2] = parseCount(v["TotalCPUs"])
		p.nodes, ok[3] = parseCount(v["TotalNodes"])
		p.perNode, ok[4] = parseLimit(v["MaxCPUsPerNode"])
		if slices.Contains(ok[:], false) {
			return nil, &FormatError{Source: "scontrol show partition", Field: p.name, Value: strings.TrimSpace(line)}
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b partition) int {
		switch {
		case a.isDefault == b.isDefault:
			return 0
		case a.isDefault:
			return -1
		}
		return 1
	})
	return all, nil
}

// widest returns the processors that one job can get of these nodes.
func (p *partition) widest(nodes []external.Node) int32 {
	var each []int32
	for i := range nodes {
		n := nodes[i].Processors
		if p.perNode > 0 {
			n = min(n, p.perNode)
		}
		each = append(each, n)
	}
	slices.SortFunc(each, func(a, b int32) int { return cmp.Compare(b, a) })
	if p.maxNodes > 0 {
		each = each[:min(len(each), int(p.maxNodes))]
	}
	sum := int64(0)
	for _, n := range each {
		sum += int64(n)
	}
	return int32(min(sum, batch.MaxProcessors))
}

// right is one association of the accounting database: what a user can use.
type right struct {
	account   string
	partition string // "": any
	qos       []string
}

// rights returns what the user of this process can use on a cluster.
func (c *Cluster) rights(ctx context.Context, cluster string) (name string, all []right, err error) {
	own, err := user.Current()
	if err != nil {
		return "", nil, fmt.Errorf("current user: %w", err)
	}
	out, err := c.run(ctx, nil, "sacctmgr", "--noheader", "--parsable2", "show", "associations",
		"cluster="+cluster, "user="+own.Username, "format=Account,Partition,QOS")
	if err != nil {
		return own.Username, nil, fmt.Errorf("rights: %w", err)
	}
	return own.Username, parseRights(out), nil
}

func parseRights(out string) []right {
	var all []right
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(f) != 3 || f[0] == "" {
			continue
		}
		all = append(all, right{
			account: f[0], partition: f[1],
			qos: strings.FieldsFunc(f[2], func(r rune) bool { return r == ',' }),
		})
	}
	return all
}

// notEnforced ends notes about rights.
const notEnforced = ", which Slurm does not enforce (AccountingStorageEnforce)"

// checkRights checks the configured account and QOS against accounting. trial is the
// error of the trial submission. Slurm enforces accounts and QOS only with
// AccountingStorageEnforce, so a wrong one that it accepts is a note.
func (c *Cluster) checkRights(ctx context.Context, set *settings, trial error) (notes []string, err error) {
	refused, said := errors.AsType[*external.RefusedError](trial)
	badAccount := said && strings.Contains(refused.Text, "Invalid account")
	badQOS := said && strings.Contains(refused.Text, "Invalid qos")
	if trial != nil && !badAccount && !badQOS || set.accounting != slurmdbd {
		return nil, trial
	}
	name, all, err := c.rights(ctx, set.cluster)
	account, qos := c.cfg.Account, c.cfg.QOS
	switch {
	case trial != nil && err != nil:
		return nil, trial
	case badAccount:
		return nil, wrongKey("account", account, "accounts of user "+name, accountsOf(all), trial)
	case badQOS:
		return nil, wrongKey("qos", qos, "those of user "+name, qosOf(all, account), trial)
	case err != nil:
		other := "their own records"
		if set.jobComp == filetxt {
			other = "the file of completed jobs"
		}
		note := fmt.Sprintf("%v; ends of jobs that the controller has forgotten come from %s",
			&external.AccountingError{Err: err}, other)
		return []string{note}, nil // the site works without accounting
	}
	if account != "" && !slices.Contains(accountsOf(all), account) {
		notes = append(notes, fmt.Sprintf("account: %q is not one of user %s"+notEnforced, account, name))
	}
	if qos != "" && !slices.Contains(qosOf(all, account), qos) && len(notes) == 0 {
		notes = append(notes, fmt.Sprintf("qos: %q is not one of user %s"+notEnforced, qos, name))
	}
	return notes, nil
}

// wrongKey is the error about a key of the configuration.
func wrongKey(key, value, what string, accepted []string, err error) error {
	if value == "" {
		value = "(the default)"
	}
	if len(accepted) == 0 {
		return fmt.Errorf("%s: %q: %w (there are no %s)", key, value, err, what)
	}
	return fmt.Errorf("%s: %q, accepted: one of %v, %s: %w", key, value, accepted, what, err)
}

func accountsOf(all []right) []string {
	var names []string
	for _, r := range all {
		names = append(names, r.account)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// qosOf returns the QOS of an account, or of all for "".
func qosOf(all []right, account string) []string {
	var names []string
	for _, r := range all {
		if account == "" || r.account == account {
			names = append(names, r.qos...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
