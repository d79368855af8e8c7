package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type getCmd struct {
	Job      string `arg:"" complete:"jobs" help:"The job: its ID or the beginning, or last; with --dir also all, FROM..TO."`
	Argument string `arg:"" optional:"" help:"The name of what it has written; drover job lists them. Without it: all, with --dir."`
	Path     string `arg:"" optional:"" help:"Where to put it; a directory, or - for stdout. Default: the name of the argument. A vector or matrix becomes a .npy file if the path says so."`
	Dir      string `placeholder:"DIR" help:"Put it into this directory, under the names of the arguments; of several jobs into a directory for each."`
}

// npyEnd is the end of the name of a file that has a vector or matrix.
const npyEnd = ".npy"

func (c *getCmd) Run(a *app) error {
	switch {
	case c.Argument == "" && c.Dir == "":
		return &cmdline.UsageError{Message: `expected "<argument>", or --dir for all that the job has written`, Hint: "drover job " + c.Job + " lists it"}
	case c.Path != "" && c.Dir != "":
		return &cmdline.UsageError{Message: "both a path and --dir, accepted: one of them"}
	case c.Path == "-" && (a.flags.JSON || a.flags.Quiet):
		return &cmdline.UsageError{Message: "to stdout goes the content alone, accepted: without --json and --quiet"}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.choose(grid, []string{c.Job}, false)
	if err != nil {
		return err
	}
	if c.Dir == "" && len(jobs.ids) != 1 {
		return &cmdline.UsageError{Message: fmt.Sprintf("%q names %d jobs, accepted: one, or with --dir", c.Job, len(jobs.ids))}
	}
	return a.eachJob(jobs, func(id string) error { return c.get(a, grid, id, jobs.single) })
}

// get brings what one job has written.
func (c *getCmd) get(a *app, grid *client.Client, id string, single bool) error {
	j, err := grid.Job(a.ctx, id)
	if err != nil {
		return err
	}
	outputs, err := c.outputsOf(j)
	if err != nil {
		return err
	}
	if c.Path == "-" {
		return grid.Download(a.ctx, id, c.Argument, a.Stdout)
	}
	v := getView{Schema: "drover.get/1", Job: id, Files: []gotView{}}
	for _, o := range outputs {
		path, err := c.pathOf(o, id, single)
		if err != nil {
			return err
		}
		line := &progress{app: a}
		line.line("fetching %s: %s", o.Argument, bytesOf(o.Size))
		err = grid.Save(a.ctx, id, o.Argument, path)
		line.clear()
		if err != nil {
			return err
		}
		v.Files = append(v.Files, gotView{Argument: o.Argument, Path: path, Size: o.Size, SHA256: o.SHA256})
		if !a.flags.JSON && !a.flags.Quiet {
			if _, err := fmt.Fprintln(a.Stdout, cmdline.Printable(path)); err != nil {
				return err
			}
		}
	}
	switch {
	case a.flags.JSON && single:
		return cmdline.WriteJSON(a.Stdout, v)
	case a.flags.JSON:
		return writeLine(a.Stdout, v)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, id)
	}
	return err
}

// outputsOf returns what is wanted of a job, by the names of arguments.
func (c *getCmd) outputsOf(j *client.Job) ([]client.Output, error) {
	if !j.State.Final() {
		return nil, &problem.Problem{
			Reason: reasonNotEnded, Field: "job_id", Retryable: true,
			Message: fmt.Sprintf("job %s is %s: what it writes is there when it has ended", j.ID, stateOf(j)),
			Hint:    "drover wait " + j.ID,
		}
	}
	var names []string
	for _, o := range j.Outputs {
		names = append(names, o.Argument)
	}
	if c.Argument == "" && len(names) > 0 {
		return j.Outputs, nil
	}
	if i := slices.Index(names, c.Argument); i >= 0 {
		return j.Outputs[i : i+1], nil
	}
	e := &problem.Problem{
		Reason: "unknown-output", Field: "argument", Accepted: "one of " + strings.Join(names, ", "),
		Message: fmt.Sprintf("job %s, which is %s, has written no %q", j.ID, j.State, c.Argument),
	}
	if len(names) == 0 {
		e.Accepted = ""
		e.Message = fmt.Sprintf("job %s, which is %s, has written no file", j.ID, j.State)
	}
	return nil, e
}

// reasonNotEnded is that something is there only when a job has ended.
const reasonNotEnded = "not-ended"

// pathOf returns where an output is to go, and makes its directory.
func (c *getCmd) pathOf(o client.Output, id string, single bool) (string, error) {
	name := o.Argument
	if o.Element != "" {
		name += npyEnd
	}
	if c.Path != "" {
		about, err := os.Stat(c.Path)
		switch {
		case err == nil && about.IsDir() || strings.HasSuffix(c.Path, string(filepath.Separator)):
			return below(c.Path, name)
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return "", err
		}
		return c.Path, nil
	}
	dir := c.Dir
	if dir != "" {
		if !single {
			dir = filepath.Join(dir, id)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	return below(dir, name)
}

// below returns the path of a file in a directory. The name comes from elsewhere: it may
// not lead out of there.
func below(dir, name string) (string, error) {
	if name == "" || name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return "", &cmdline.UsageError{Message: fmt.Sprintf("%q is no name for a file here", name), Hint: "name a path"}
	}
	return filepath.Join(dir, name), nil
}

type getView struct {
	Schema string    `json:"schema"`
	Job    string    `json:"job"`
	Files  []gotView `json:"files"`
}

// gotView is a file that was brought.
type gotView struct {
	Argument string `json:"argument"`
	Path     string `json:"path"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
}
