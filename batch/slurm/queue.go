package slurm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// row is one line of squeue: a job or, of a job array, the elements that wait together.
type row struct {
	id         string // 12, 12_3, 12_[4-9], 12+1
	state      string // in full: PENDING, RUNNING, …
	reason     string // why it waits or has ended
	user       string
	partition  string
	processors int32
	nodes      int32
	limit      batch.Duration // batch.Forever: none
	used       batch.Duration // of limit
	submitted  time.Time
	start      time.Time // actual or planned; zero: not known
	end        time.Time
	priority   int64
	nodeList   string // where it runs
	name       string
	comment    string
	tasks      int // jobs that the line stands for
}

// columns are those of a row, the free text last.
var columns = []string{"%i", "%T", "%r", "%u", "%P", "%C", "%D", "%l", "%M", "%V", "%S", "%e", "%Q", "%N", "%j", "%k"}

// token returns a random field separator that no name or comment can contain: it is
// made for one command.
func token() string { return "~" + rand.Text()[:12] + "~" }

// List implements external.Cluster, with one squeue for all partitions.
func (c *Cluster) List(ctx context.Context) ([]external.Job, error) {
	rows, err := c.queue(ctx)
	if err != nil {
		return nil, err
	}
	jobs := make([]external.Job, len(rows))
	for i := range rows {
		jobs[i] = rows[i].job()
	}
	return jobs, nil
}

func (c *Cluster) queue(ctx context.Context) ([]row, error) {
	mark := token()
	out, err := c.run(ctx, nil, "squeue", "--noheader", "--format="+mark+strings.Join(columns, mark))
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return parseQueue(out, mark)
}

// parseQueue reads records of fields that each begin with mark.
func parseQueue(text, mark string) ([]row, error) {
	records, err := split("squeue", text, mark, len(columns))
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(records))
	for _, f := range records {
		r, err := parseRow(f)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// split returns the records of an output, n fields each. A field can contain newlines.
func split(source, text, mark string, n int) ([][]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	fields := strings.Split(text, mark)
	if strings.TrimSpace(fields[0]) != "" || (len(fields)-1)%n != 0 {
		return nil, &FormatError{Source: source, Field: "records", Value: fields[0]}
	}
	var records [][]string
	for record := range slices.Chunk(fields[1:], n) {
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		records = append(records, record)
	}
	return records, nil
}

func parseRow(f []string) (row, error) {
	r := row{
		id: f[0], state: f[1], reason: f[2], user: f[3], partition: f[4], nodeList: f[13], name: f[14], comment: f[15],
		tasks: parseTasks(f[0]),
	}
	var problem *FormatError
	check := func(ok bool, at int, field string) {
		if !ok && problem == nil {
			problem = &FormatError{Source: "squeue", Field: field, Value: f[at]}
		}
	}
	var ok bool
	check(r.id != "" && r.state != "", 0, "job")
	r.processors, ok = parseCount(f[5])
	check(ok, 5, "processors")
	r.nodes, ok = parseCount(f[6])
	check(ok, 6, "nodes")
	r.limit, ok = parseSpan(f[7])
	check(ok, 7, "time limit")
	r.used, ok = parseSpan(f[8])
	check(ok, 8, "time used")
	r.submitted, ok = parseInstant(f[9])
	check(ok, 9, "submission")
	r.start, ok = parseInstant(f[10])
	check(ok, 10, "start")
	r.end, ok = parseInstant(f[11])
	check(ok, 11, "end")
	r.priority, ok = parseNumber(f[12])
	check(ok, 12, "priority")
	if problem != nil {
		return row{}, problem
	}
	return r, nil
}

// job returns the row in the words of package external.
func (r *row) job() external.Job {
	j := external.Job{
		ID: r.id, Phase: r.phase(), Partitions: r.partition, Processors: r.processors, Limit: r.limit, Used: r.used,
		Submitted: r.submitted, Start: r.start, Priority: r.priority, Name: r.name, Comment: r.comment, Tasks: r.tasks,
		AdminHold: r.reason == heldByAdmin,
	}
	switch r.reason {
	case "Dependency", "DependencyNeverSatisfied", "BadConstraints", "PartitionDown", "PartitionInactive",
		"AccountNotAllowed", "QOSNotAllowed":
		j.Blocked = true
	}
	if external.Marked(r.name, r.comment) {
		j.Nodes = expand(r.nodeList)
	}
	return j
}

// Reasons for which a job waits.
const (
	heldByUser  = "JobHeldUser"
	heldByAdmin = "JobHeldAdmin"
)

func (r *row) phase() batch.Phase {
	switch r.state {
	case "PENDING", "REQUEUED", "REQUEUE_FED":
		if r.reason == heldByUser || r.reason == heldByAdmin {
			return batch.PhaseHeld
		}
		return batch.PhaseQueued
	case "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return batch.PhaseHeld
	case "CONFIGURING", "POWER_UP_NODE":
		return batch.PhaseStarting
	case "SUSPENDED", "STOPPED":
		return batch.PhasePaused
	}
	return batch.PhaseRunning
}

// liveStates are those of jobs that have not ended.
var liveStates = []string{
	"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT",
	"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT", "POWER_UP_NODE",
}

// causeOf returns why a job in a state ended; 0 if it has not.
func causeOf(state string) external.Cause {
	switch state {
	case "COMPLETED":
		return external.Completed
	case "TIMEOUT":
		return external.TimedOut
	case "DEADLINE":
		return external.Deadline
	case "OUT_OF_MEMORY":
		return external.OutOfMemory
	case "CANCELLED":
		return external.Cancelled
	case "NODE_FAIL", "BOOT_FAIL":
		return external.NodeFailed
	case "PREEMPTED":
		return external.Preempted
	case "REVOKED":
		return external.Revoked
	}
	if slices.Contains(liveStates, state) {
		return 0
	}
	return external.Failed
}

// details are the columns of a Lookup. squeue cuts longer values off.
var details = []string{
	"JobID:40", "State:20", "Reason:40", "exit_code:20", "StartTime:20", "EndTime:20", "NodeList:400", "Name:200",
	"Comment:400",
}

// maxAsked is how many jobs one command is asked about.
const maxAsked = 400

// Lookup implements external.Cluster. The controller remembers ended jobs for MinJobAge.
func (c *Cluster) Lookup(ctx context.Context, ids, names []string) ([]external.Record, error) {
	byID, errID := c.lookup(ctx, "--jobs=", ids)
	byName, errName := c.lookup(ctx, "--name=", names)
	if err := errors.Join(errID, errName); err != nil {
		return nil, err
	}
	return append(byID, byName...), nil
}

func (c *Cluster) lookup(ctx context.Context, option string, values []string) ([]external.Record, error) {
	var all []external.Record
	for some := range slices.Chunk(values, maxAsked) {
		got, err := c.details(ctx, option+strings.Join(some, ","))
		if err != nil {
			return nil, fmt.Errorf("ended jobs: %w", err)
		}
		all = append(all, got...)
	}
	return all, nil
}

func (c *Cluster) details(ctx context.Context, which string) ([]external.Record, error) {
	mark := token()
	// The dummy first field makes records begin with the mark, like those of the queue.
	format := "JobID:1" + mark + "," + strings.Join(details, mark+",") + mark
	out, err := c.run(ctx, nil, "squeue", "--noheader", "--states=all", which, "--Format="+format)
	if refused, ok := errors.AsType[*external.RefusedError](err); ok && strings.Contains(refused.Text,
		"Invalid job id") {
		return nil, nil // all of them are forgotten
	}
	if err != nil {
		return nil, err
	}
	return parseDetails(out, mark)
}

// parseDetails reads records that end with mark.
func parseDetails(text, mark string) ([]external.Record, error) {
	n := len(details) + 1
	fields := strings.Split(text, mark)
	if strings.TrimSpace(fields[len(fields)-1]) != "" || (len(fields)-1)%n != 0 {
		return nil, &FormatError{Source: "squeue", Field: "records", Value: fields[len(fields)-1]}
	}
	var all []external.Record
	for f := range slices.Chunk(fields[:len(fields)-1], n) {
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		f = f[1:] // the dummy
		r := external.Record{
			ID: f[0], State: f[1], Cause: causeOf(f[1]), Reason: f[2], Nodes: expand(null(f[6])), Name: f[7],
			Comment: f[8],
		}
		status, err := strconv.ParseUint(f[3], 10, 32)
		var okS, okE bool
		r.Start, okS = parseInstant(f[4])
		r.End, okE = parseInstant(f[5])
		if err != nil || !okS || !okE || r.ID == "" || r.State == "" {
			return nil, &FormatError{Source: "squeue", Field: "job", Value: strings.Join(f[:6], " ")}
		}
		r.Code, r.Signal = exitOf(uint32(status))
		all = append(all, r)
	}
	return all, nil
}

// exitOf reads the raw status of wait(2), which Slurm keeps.
func exitOf(wait uint32) (code int, signal string) {
	status := syscall.WaitStatus(wait)
	if status.Signaled() {
		return 0, signalName(int(status.Signal()))
	}
	return int(wait>>8) & 0xff, ""
}

func signalName(n int) string {
	if n == 0 {
		return ""
	}
	if s := unix.SignalName(syscall.Signal(n)); s != "" {
		return s
	}
	return "signal " + strconv.Itoa(n)
}

// null returns "" for the words that Slurm prints for no value.
func null(text string) string {
	switch text {
	case "(null)", "N/A", "None assigned", "n/a", "Unknown":
		return ""
	}
	return text
}
