package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
)

// one returns the view of a job that is printed alone.
func one(j *client.Job) jobView {
	v := jobViewOf(j)
	v.Schema = "drover.job/1"
	return v
}

type jobCmd struct {
	Jobs []string `arg:"" name:"job" complete:"jobs" help:"The jobs: IDs or their beginnings, last, all, FROM..TO."`
}

func (c *jobCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.choose(grid, c.Jobs, false)
	if err != nil {
		return err
	}
	first := true
	return a.eachJob(jobs, func(id string) error {
		j, err := grid.Job(a.ctx, id)
		if err != nil {
			return err
		}
		if a.flags.JSON || a.flags.Quiet {
			return a.print(j, jobs.single, j.ID)
		}
		if !first {
			_, _ = fmt.Fprintln(a.Stdout)
		}
		first = false
		showJob(a, j)
		return nil
	})
}

// eachJob does the same with each job, one after the other. What one of many meets is
// told, and the others go on; it exits as the first that failed.
func (a *app) eachJob(jobs choice, do func(id string) error) error {
	var told teller
	for _, id := range jobs.ids {
		err := do(id)
		if err != nil && a.ctx.Err() != nil {
			return err
		}
		told.tell(a, jobs, id, err)
	}
	return told.first
}

// teller tells of errors about one of many jobs, and keeps with what the command is to
// end.
type teller struct{ first error }

func (t *teller) tell(a *app, jobs choice, id string, err error) {
	switch {
	case err == nil:
		return
	case !jobs.single: // one that is alone is told at the end, like every error
		err = cmdline.ExitError(report(a.Process, a.flags.JSON, fmt.Errorf("job %s: %w", id, err)))
	}
	if t.first == nil {
		t.first = err
	}
}

// showJob prints a job for people.
func showJob(a *app, j *client.Job) {
	t := cmdline.NewTable(a.Stdout, nil)
	row := func(name, format string, args ...any) {
		if s := fmt.Sprintf(format, args...); s != "" {
			t.AppendRow(table.Row{name, s})
		}
	}
	row("job", "%s", j.ID)
	row("state", "%s", stateOf(j))
	if j.State.Final() {
		row("outcome", "%s", j.Outcome.Reason)
	}
	row("service", "%s", j.Service)
	for _, name := range slices.Sorted(maps.Keys(j.Arguments)) {
		row("  "+name, "%s", j.Arguments[name])
	}
	row("owner", "%s", j.Owner)
	row("site", "%s", j.Site)
	row("only at", "%s", j.OnlySite)
	for i, told := range afterOf(j) {
		row([]string{"after", ""}[min(i, 1)], "%s", told)
	}
	row("retries", "%s", retriesOf(j))
	if j.UnknownFor > 0 {
		row("unknown", "its site has not been heard of for %s: this is what was known then", cmdline.Span(j.UnknownFor))
	}
	for i := range j.Moves {
		name, told := moveOf(&j.Moves[i])
		row(name, "%s", told)
	}
	row("retry of", "%s", j.RetryOf)
	if j.Attempt > 1 {
		row("attempt", "%d", j.Attempt)
	}
	row("checkpoint", "%s", checkpointOf(j))
	row("nodes", "%s", strings.Join(j.Nodes, " "))
	row("not there", "%s", namesOf(j.NodesAway))
	row("width", "%d", j.Shape.Width)
	row("walltime", "%s", cmdline.Span(j.Shape.Walltime))
	row("cpu", "%s", cpuOf(j.Needs))
	row("memory", "%s", memoryOf(j.Needs))
	row("submitted", "%s", clock(j.Submitted))
	if j.EstimateKind == "" { // of a job that an agent remembers, as its site does not answer
		row("started", "%s", clock(j.Started))
		row("ended", "%s", clock(j.Ended))
	} else {
		row("started", "%s (estimated %s)", clock(j.Started), clock(j.Submitted.Add(j.EstimatedWait)))
		row("ended", "%s (%s %s)", clock(j.Ended), j.EstimateKind, clock(j.Submitted.Add(j.EstimatedCompletion)))
	}
	if !j.Deadline.IsZero() {
		row("deadline", "%s", day(j.Deadline))
	}
	row("agreement", "%s", agreed(j))
	row("in", "%s", reservationOf(j))
	for _, kept := range keptRows(j) {
		row("keeps", "%s", kept)
	}
	for _, o := range j.Outputs {
		row("output", "%s, %s", o.Argument, contents(o))
	}
	t.Render()
}

// reservationOf names the reservation that a job is in, if it is in one.
func reservationOf(j *client.Job) string {
	if j.Into == "" {
		return ""
	}
	return "reservation " + j.Into
}

// checkpointOf tells of the checkpoints at which a job was stopped.
func checkpointOf(j *client.Job) string {
	if j.Checkpoints == 0 {
		return ""
	}
	text := "stopped after " + cmdline.Span(j.CheckpointedAfter)
	if j.Checkpoints > 1 {
		text += fmt.Sprintf(" of running, the last of %d times", j.Checkpoints)
	}
	switch j.State {
	case client.Waiting, client.Starting:
		text += ", to go on from there"
	case client.Running:
		text += ", went on from there"
	}
	return text
}

// stateOf returns a job's state for people, with the other site of a move and
// the doubts there are.
func stateOf(j *client.Job) string {
	text := string(j.State)
	switch j.State {
	case client.Moving, client.Yielding:
		text += " to " + j.Peer
	case client.Incoming:
		text += " from " + j.Peer
	case client.Gone:
		text += " to " + j.MovedTo
	}
	if j.CancelRecorded {
		text += ", to be cancelled"
	}
	if j.UnknownFor > 0 {
		text = fmt.Sprintf("unknown for %s (was %s)", cmdline.Span(j.UnknownFor), text)
	}
	return text
}

// moveOf tells of one of a job's moves, by name and text: only one that was
// carried out has moved it.
func moveOf(m *client.Move) (name, told string) {
	name, at, why := "moved", m.Settled, m.Reason
	switch m.State {
	case client.MovePending:
		name, at = "moving", m.Ordered
	case client.MoveAborted:
		name, why = "stayed", m.AbortedWhy
	}
	told = fmt.Sprintf("%s from %s to %s", clock(at), m.From, m.To)
	if why != "" {
		told += ": " + why
	}
	return name, told
}

// noteOf tells what is special about a job's history.
func noteOf(j *client.Job) string {
	var notes []string
	n := 0
	for i := range j.Moves {
		if j.Moves[i].State == client.MoveMoved {
			n++
		}
	}
	if n == 1 {
		notes = append(notes, "moved once")
	} else if n > 1 {
		notes = append(notes, fmt.Sprintf("moved %d times", n))
	}
	if j.Attempt > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d", j.Attempt))
	}
	if len(j.Awaits) > 0 {
		notes = append(notes, awaitsOf(j))
	}
	if len(j.NodesAway) > 0 {
		notes = append(notes, "nodes that are not there: "+namesOf(j.NodesAway))
	}
	if j.Retried > 0 {
		notes = append(notes, fmt.Sprintf("failed and started anew, %d of %s", j.Retried, strconv.Itoa(j.Retries)))
	}
	if j.RetryOf != "" {
		notes = append(notes, "retry of "+j.RetryOf)
	}
	return strings.Join(notes, ", ")
}

type logsCmd struct {
	Jobs   []string `arg:"" name:"job" complete:"jobs" help:"The jobs, one after the other: IDs or their beginnings, last, all, FROM..TO."`
	Follow bool     `short:"f" help:"Go on until the job has ended."`
	Stderr bool     `help:"Standard error in place of standard output."`
}

func (c *logsCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.choose(grid, c.Jobs, false)
	if err != nil {
		return err
	}
	return a.eachJob(jobs, func(id string) error {
		if !jobs.single && !a.flags.Quiet { // as head and tail do with many files
			if _, err := fmt.Fprintf(a.Stdout, "==> %s <==\n", id); err != nil {
				return err
			}
		}
		return grid.Logs(a.ctx, id, client.LogOptions{Stderr: c.Stderr, Follow: c.Follow}, a.Stdout)
	})
}

// mostCancels is how many jobs are cancelled at a time.
const mostCancels = 16

type cancelCmd struct {
	Jobs []string `arg:"" name:"job" complete:"active" help:"The jobs: IDs or their beginnings, last, all, FROM..TO."`
}

func (c *cancelCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.choose(grid, c.Jobs, true)
	if err != nil {
		return err
	}
	// A silent site takes patience for each of its jobs: the others do not wait for that.
	type answer struct {
		job *client.Job
		err error
	}
	var told teller
	begun := parallel.InOrder(a.ctx, mostCancels, jobs.ids, func(id string) (answer, bool) {
		j, err := grid.Cancel(a.ctx, id)
		return answer{j, err}, false
	}, func(i int, r answer) {
		if r.err == nil {
			r.err = a.print(r.job, jobs.single, string(r.job.State))
		}
		told.tell(a, jobs, jobs.ids[i], r.err)
	})
	if begun < len(jobs.ids) {
		return a.ctx.Err()
	}
	return told.first
}

// afterView is a job that another one comes after.
type afterView struct {
	Job string `json:"job"`
	Any bool   `json:"any,omitempty"`
}

// afterOf tells which jobs one comes after, a line each.
func afterOf(j *client.Job) []string {
	var lines []string
	for i, d := range j.After {
		if i == mostNamed {
			lines = append(lines, fmt.Sprintf("and %d more", len(j.After)-i))
			break
		}
		text := d.Job
		if d.Any {
			text += ", however it ends"
		}
		if slices.Contains(j.Awaits, d.Job) {
			text += " (awaited)"
		}
		lines = append(lines, text)
	}
	return lines
}

// awaitsOf tells what a job waits for.
func awaitsOf(j *client.Job) string {
	if len(j.Awaits) == 1 {
		return "waits for " + j.Awaits[0]
	}
	return "waits for " + plural(len(j.Awaits), "job")
}

// namesOf names jobs, not more than anybody reads.
func namesOf(ids []string) string {
	if len(ids) > mostNamed {
		return strings.Join(ids[:mostNamed], " ") + fmt.Sprintf(" and %d more", len(ids)-mostNamed)
	}
	return strings.Join(ids, " ")
}

// retriesOf tells how often a job is started once more when it fails, "" for never.
func retriesOf(j *client.Job) string {
	if j.Retries == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d", j.Retried, j.Retries)
	var codes []string
	for _, code := range j.RetryOn {
		codes = append(codes, strconv.Itoa(code))
	}
	if len(codes) > 0 {
		text += ", after exit code " + strings.Join(codes, ", ")
	}
	return text
}

// needsView is what each task of a job was said to need, and was found to.
type needsView struct {
	DeclaredCPU    float64 `json:"declared_cpu"`
	DeclaredMemory int64   `json:"declared_memory_bytes,omitempty"`
	MeasuredCPU    float64 `json:"measured_cpu,omitempty"`
	MeasuredMemory int64   `json:"measured_memory_bytes,omitempty"`
}

// cpuOf tells of the CPU need of each task: nothing where all of it is a whole processor
// as of any job.
func cpuOf(n *client.TaskNeeds) string {
	switch {
	case n == nil || n.MeasuredCPU == 0 && n.DeclaredCPU == 1:
		return ""
	case n.MeasuredCPU == 0:
		return fmt.Sprintf("%.2f of a processor declared for each task", n.DeclaredCPU)
	}
	return fmt.Sprintf("%.2f of a processor declared for each task, %.2f measured", n.DeclaredCPU, n.MeasuredCPU)
}

// memoryOf tells of the memory of each task.
func memoryOf(n *client.TaskNeeds) string {
	switch {
	case n == nil || n.MeasuredMemory == 0 && n.DeclaredMemory == 0:
		return ""
	case n.MeasuredMemory == 0:
		return mebibytes(n.DeclaredMemory) + " declared for each task"
	case n.DeclaredMemory == 0:
		return "none declared, " + mebibytes(n.MeasuredMemory) + " used at most by a task"
	}
	return fmt.Sprintf("%s declared for each task, %s used at most by one", mebibytes(n.DeclaredMemory), mebibytes(n.MeasuredMemory))
}
