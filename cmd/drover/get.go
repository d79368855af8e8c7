package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

type getCmd struct {
	Job      string `arg:"" complete:"jobs" help:"The job: its ID or the beginning, or last; with --dir also all, FROM..TO."`
	Argument string `arg:"" optional:"" help:"Name of the output; drover job lists them. Default: all outputs, with --dir."`
	Path     string `arg:"" optional:"" help:"Where to write it: a file, a directory, or - for stdout. Default: the name of the argument. A vector or matrix becomes a NumPy file if the path ends in .npy."`
	Dir      string `placeholder:"DIR" help:"Write into this directory, under the names of the arguments. Each of several jobs gets its own directory in it."`
}

// notEnded is the reason of this command for a job with incomplete outputs.
const notEnded problem.Reason = "not-ended"

// npyEnding is the file name ending of NumPy arrays.
const npyEnding = ".npy"

// fetchedJSON is the JSON of get for one job.
type fetchedJSON struct {
	JobID string            `json:"jobId"`
	Files []fetchedFileJSON `json:"files"`
}

type fetchedFileJSON struct {
	Argument  string `json:"argument"`
	Path      string `json:"path"`
	SizeBytes int64  `json:"sizeBytes,string"`
	SHA256    string `json:"sha256"`
}

func (c *getCmd) Run(a *app) error {
	switch {
	case c.Argument == "" && c.Dir == "":
		return &cmdline.UsageError{
			Message: `expected "<argument>", or --dir for all outputs of the job`,
			Hint:    "drover job " + c.Job + " lists the outputs",
		}
	case c.Path != "" && c.Dir != "":
		return &cmdline.UsageError{Message: "both a path and --dir, accepted: one of them"}
	case c.Path == "-" && (a.flags.JSON || a.flags.Quiet):
		return &cmdline.UsageError{Message: "stdout is for the content alone, accepted: - without --json and --quiet"}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.selectJobs(grid, []string{c.Job}, false)
	if err != nil {
		return err
	}
	if c.Dir == "" && len(jobs.ids) != 1 {
		return &cmdline.UsageError{Message: fmt.Sprintf("%q selects %d jobs, accepted: one, or with --dir", c.Job,
			len(jobs.ids))}
	}
	return a.eachJob(jobs, func(id string) error { return c.get(a, grid, id, jobs.single) })
}

// get fetches outputs of one job.
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
	fetched := fetchedJSON{JobID: id, Files: []fetchedFileJSON{}}
	for _, o := range outputs {
		path, err := c.pathOf(o, id, single)
		if err != nil {
			return err
		}
		line := &progress{app: a}
		line.line("fetching %s: %s", o.Argument, bytesText(o.Size))
		err = grid.Save(a.ctx, id, o.Argument, path)
		line.clear()
		if err != nil {
			return err
		}
		fetched.Files = append(fetched.Files, fetchedFileJSON{
			Argument: o.Argument, Path: path, SizeBytes: o.Size, SHA256: o.SHA256,
		})
		if !a.flags.JSON && !a.flags.Quiet {
			if _, err := fmt.Fprintln(a.Stdout, cmdline.Printable(path)); err != nil {
				return err
			}
		}
	}
	switch {
	case a.flags.JSON && single:
		return cmdline.WriteJSON(a.Stdout, fetched)
	case a.flags.JSON:
		return writeLine(a.Stdout, fetched)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, id)
	}
	return err
}

// outputsOf returns the outputs to fetch.
func (c *getCmd) outputsOf(j *client.Job) ([]client.Output, error) {
	if !j.State.Final() {
		return nil, &problem.Problem{
			Reason: notEnded, Field: "job_id", Retryable: true,
			Message: fmt.Sprintf("job %s is %s: its outputs are available when it has ended", j.ID, stateText(j)),
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
		Reason: problem.UnknownOutput, Field: "argument", Accepted: "one of " + strings.Join(names, ", "),
		Message: fmt.Sprintf("job %s, which is %s, has no output %q", j.ID, j.State, c.Argument),
	}
	if len(names) == 0 {
		e.Accepted = ""
		e.Message = fmt.Sprintf("job %s, which is %s, has no outputs", j.ID, j.State)
	}
	return nil, e
}

// pathOf returns where to write an output, and creates the directory.
func (c *getCmd) pathOf(o client.Output, id string, single bool) (string, error) {
	name := o.Argument
	if o.Element != "" {
		name += npyEnding
	}
	if c.Path != "" {
		about, err := os.Stat(c.Path)
		switch {
		case err == nil && about.IsDir() || strings.HasSuffix(c.Path, string(filepath.Separator)):
			return fileIn(c.Path, name)
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
	return fileIn(dir, name)
}

// fileIn returns the path of a file in a directory. The name comes from a server and must
// not lead out of the directory.
func fileIn(dir, name string) (string, error) {
	if name == "" || name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return "", &cmdline.UsageError{Message: fmt.Sprintf("%q cannot be a file name here", name), Hint: "give a path"}
	}
	return filepath.Join(dir, name), nil
}
