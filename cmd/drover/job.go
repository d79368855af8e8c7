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
)

type jobCmd struct {
	Jobs []string `arg:"" name:"job" complete:"jobs" help:"The jobs: IDs or their beginnings, last, all, FROM..TO."`
}

func (c *jobCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.selectJobs(grid, c.Jobs, false)
	if err != nil {
		return err
	}
	known := make(map[string]*client.Job)
	if len(jobs.ids) > listedAtOnce {
		list, err := grid.Jobs(a.ctx, client.JobFilter{})
		if err != nil {
			return err
		}
		for _, j := range newIndex(list.Jobs) {
			// The agent's memory of a silent site is not enough: FindJob says more.
			if !slices.ContainsFunc(list.Missing, func(m client.MissingSite) bool { return m.Site == j.Site }) {
				known[j.ID] = j
			}
		}
	}
	first := true
	return a.eachJob(jobs, func(id string) error {
		j := known[id]
		if j == nil {
			var err error
			if j, err = grid.Job(a.ctx, id); err != nil {
				return err
			}
		}
		if a.flags.JSON || a.flags.Quiet {
			return a.printJob(j, jobs.single, j.ID)
		}
		if !first {
			_, _ = fmt.Fprintln(a.Stdout)
		}
		first = false
		showJob(a, j)
		return nil
	})
}

// listedAtOnce is the number of jobs above which one list of all jobs is faster than a call for each.
const listedAtOnce = 100

// showJob prints a job as a list of fields. It leaves out empty fields.
func showJob(a *app, j *client.Job) {
	t := cmdline.NewTable(a.Stdout, nil)
	row := func(name, format string, args ...any) {
		if s := fmt.Sprintf(format, args...); s != "" {
			t.AppendRow(table.Row{name, s})
		}
	}
	row("job", "%s", j.ID)
	row("state", "%s", stateText(j))
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
	for i, text := range dependencyTexts(j) {
		row([]string{"after", ""}[min(i, 1)], "%s", text)
	}
	row("retries", "%s", retriesText(j))
	if j.UnknownFor > 0 {
		row("unknown", "its site has been silent for %s; this is the last known state", cmdline.Span(j.UnknownFor))
	}
	for i := range j.Moves {
		name, text := moveText(&j.Moves[i])
		row(name, "%s", text)
	}
	row("retry of", "%s", j.RetryOf)
	if j.Attempt > 1 {
		row("attempt", "%d", j.Attempt)
	}
	row("checkpoint", "%s", checkpointText(j))
	row("nodes", "%s", strings.Join(j.Nodes, " "))
	row("away", "%s", listText(j.NodesAway))
	row("width", "%d", j.Shape.Width)
	row("walltime", "%s", cmdline.Span(j.Shape.Walltime))
	row("cpu", "%s", cpuText(j.Needs))
	row("memory", "%s", memoryText(j.Needs))
	row("submitted", "%s", clock(j.Submitted))
	if j.EstimateKind == "" { // the agent's record of a job has no estimate
		row("started", "%s", clock(j.Started))
		row("ended", "%s", clock(j.Ended))
	} else {
		row("started", "%s (estimated %s)", clock(j.Started), clock(j.Submitted.Add(j.EstimatedWait)))
		row("ended", "%s (%s %s)", clock(j.Ended), j.EstimateKind, clock(j.Submitted.Add(j.EstimatedCompletion)))
	}
	if !j.Deadline.IsZero() {
		row("deadline", "%s", day(j.Deadline))
	}
	row("agreement", "%s", agreementText(j))
	if j.Into != "" {
		row("in", "reservation %s", j.Into)
	}
	for _, text := range keptTexts(j) {
		row("keeps", "%s", text)
	}
	for _, o := range j.Outputs {
		row("output", "%s, %s", o.Argument, outputText(o))
	}
	t.Render()
}

// stateText returns a job's state, with the other site of a move and what is uncertain.
func stateText(j *client.Job) string {
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
		text += ", cancel recorded"
	}
	if j.UnknownFor > 0 {
		text = fmt.Sprintf("unknown for %s (was %s)", cmdline.Span(j.UnknownFor), text)
	}
	return text
}

// noteText summarizes what is special about a job's history, for lists of jobs.
func noteText(j *client.Job) string {
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
		notes = append(notes, awaitsText(j))
	}
	if len(j.NodesAway) > 0 {
		notes = append(notes, "nodes away: "+listText(j.NodesAway))
	}
	if j.Retried > 0 {
		text := fmt.Sprintf("retry %d", j.Retried)
		if j.Retries > 0 { // not in a brief list
			text += fmt.Sprintf(" of %d", j.Retries)
		}
		notes = append(notes, text)
	}
	return strings.Join(notes, ", ")
}

// dependencyTexts returns the jobs that a job starts after, one per line.
func dependencyTexts(j *client.Job) []string {
	var lines []string
	for i, d := range j.After {
		if i == maxListed {
			lines = append(lines, fmt.Sprintf("and %d more", len(j.After)-i))
			break
		}
		text := d.Job
		if d.Any {
			text += ", in any state"
		}
		if slices.Contains(j.Awaits, d.Job) {
			text += " (not ended)"
		}
		lines = append(lines, text)
	}
	return lines
}

func awaitsText(j *client.Job) string {
	if len(j.Awaits) == 1 {
		return "waits for " + j.Awaits[0]
	}
	return "waits for " + plural(len(j.Awaits), "job")
}

// listText joins names, at most maxListed of them.
func listText(names []string) string {
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], " ") + fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return strings.Join(names, " ")
}

func retriesText(j *client.Job) string {
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

// moveText describes one of a job's moves: a name for its row, and the text.
func moveText(m *client.Move) (name, text string) {
	name, at, why := "moved", m.Settled, m.Reason
	switch m.State {
	case client.MovePending:
		name, at = "moving", m.Ordered
	case client.MoveAborted:
		name, why = "stayed", m.AbortedWhy
	}
	text = fmt.Sprintf("%s from %s to %s", clock(at), m.From, m.To)
	if why != "" {
		text += ": " + why
	}
	return name, text
}

func checkpointText(j *client.Job) string {
	if j.Checkpoints == 0 {
		return ""
	}
	text := "stopped after " + cmdline.Span(j.CheckpointedAfter)
	if j.Checkpoints > 1 {
		text = fmt.Sprintf("stopped %d times, last after running %s", j.Checkpoints, cmdline.Span(j.CheckpointedAfter))
	}
	switch j.State {
	case client.Waiting, client.Starting:
		text += "; will continue from there"
	case client.Running:
		text += "; continued from there"
	}
	return text
}

// agreementText describes the state and the terms of a job's agreement, "" for none.
func agreementText(j *client.Job) string {
	text := map[client.AgreementState]string{
		client.AgreementOpen: "open", client.AgreementKept: "kept", client.AgreementVoid: "void: the job was cancelled",
		client.AgreementBrokenByUser: "broken by the user: the job outran its estimate or failed",
		client.AgreementBrokenBySite: "broken by the site",
	}[j.Agreement]
	if t := j.Terms; t != nil {
		var more []string
		if t.Value > 0 {
			more = append(more, fmt.Sprintf("value %g", t.Value))
		}
		if t.Penalty > 0 {
			more = append(more, fmt.Sprintf("penalty %g", t.Penalty))
		}
		if t.Checkpointable {
			more = append(more, "checkpointable")
		}
		if len(more) > 0 {
			text += " (" + strings.Join(more, ", ") + ")"
		}
	}
	return text
}

// cpuText describes the CPU need of each task, "" if it is one undeclared processor.
func cpuText(n *client.TaskNeeds) string {
	switch {
	case n == nil || n.MeasuredCPU == 0 && n.DeclaredCPU == 1:
		return ""
	case n.MeasuredCPU == 0:
		return fmt.Sprintf("%.2f of a processor declared per task", n.DeclaredCPU)
	}
	return fmt.Sprintf("%.2f of a processor declared per task, %.2f measured", n.DeclaredCPU, n.MeasuredCPU)
}

// memoryText describes the memory of each task, "" if nothing is known.
func memoryText(n *client.TaskNeeds) string {
	switch {
	case n == nil || n.MeasuredMemory == 0 && n.DeclaredMemory == 0:
		return ""
	case n.MeasuredMemory == 0:
		return mebibytes(n.DeclaredMemory) + " declared per task"
	case n.DeclaredMemory == 0:
		return "none declared, " + mebibytes(n.MeasuredMemory) + " peak of a task"
	}
	return fmt.Sprintf("%s declared per task, %s peak of a task", mebibytes(n.DeclaredMemory),
		mebibytes(n.MeasuredMemory))
}

// keptTexts returns the arguments with data that stay at the site, with handle and mode.
func keptTexts(j *client.Job) []string {
	var rows []string
	for _, argument := range slices.Sorted(maps.Keys(j.Kept)) {
		k := j.Kept[argument]
		rows = append(rows, fmt.Sprintf("%s as %s, %s", argument, k.ID, k.Mode))
	}
	return rows
}

// printKept prints the handles of kept data on a terminal.
func (a *app) printKept(j *client.Job) {
	if !a.Terminal || a.flags.JSON || a.flags.Quiet {
		return
	}
	for _, text := range keptTexts(j) {
		_, _ = fmt.Fprintf(a.Stderr, "keeps %s\n", cmdline.Printable(text))
	}
}

// outputText describes the content of an output.
func outputText(o client.Output) string {
	text := fmt.Sprintf("%d bytes", o.Size)
	if o.Element != "" {
		b := client.Block{Element: o.Element, Dimensions: o.Dimensions}
		text = fmt.Sprintf("%s, %s", &b, text)
	}
	return text
}
