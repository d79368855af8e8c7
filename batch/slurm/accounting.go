package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// AccountingError says that the accounting database does not answer. What else there
// is was asked.
type AccountingError struct{ Err error }

// Error says why. It is not the controller that is silent.
func (e *AccountingError) Error() string {
	why := e.Err.Error()
	var silent *UnreachableError
	if errors.As(e.Err, &silent) {
		why = silent.Command + ": " + silent.Text
	}
	return "accounting does not answer: " + why
}

// Unwrap returns what sacct's run has led to.
func (e *AccountingError) Unwrap() error { return e.Err }

// Past asks what is kept of jobs by number and by name: by the accounting database,
// or by the file of completed jobs. Where there is neither it knows nothing, which is
// no error. With an *AccountingError it returns what the file says.
func (c *Commands) Past(ctx context.Context, ids, names []string) ([]Ended, error) {
	var silent error
	if c.Database {
		list, err := c.Accounted(ctx, ids, names)
		if err == nil || ctx.Err() != nil {
			return list, err
		}
		silent = &AccountingError{Err: err}
	}
	list, err := c.completed(names)
	if silent != nil {
		return list, silent // why the file cannot be read is the lesser trouble
	}
	return list, err
}

func (c *Commands) completed(names []string) ([]Ended, error) {
	if c.JobComp == "" {
		return nil, nil
	}
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	found, err := Completed(c.JobComp, wanted)
	if absent(err) {
		return nil, nil
	}
	var list []Ended
	for _, e := range found {
		list = append(list, e)
	}
	return list, err
}

// Accounted returns what the accounting database says about jobs: by their numbers,
// and by the names of those about which that says nothing. By name it knows only jobs
// that could have been started once, and of the last month. Of a job that was run again
// under its number it is the last run. Clusters without a database answer with an error.
func (c *Commands) Accounted(ctx context.Context, ids, names []string) ([]Ended, error) {
	var all []Ended
	place := make(map[[2]string]int)
	ask := func(words []string, option string, more ...string) error {
		for some := range slices.Chunk(words, mostAsked) {
			got, err := c.accounted(ctx, append(more, option+strings.Join(some, ","))...)
			if err != nil {
				return fmt.Errorf("accounting: %w", err)
			}
			for _, e := range got {
				if i, again := place[[2]string{e.ID, e.Name}]; again {
					all[i] = e
					continue
				}
				place[[2]string{e.ID, e.Name}] = len(all)
				all = append(all, e)
			}
		}
		return nil
	}
	if err := ask(ids, "--jobs=", "--duplicates"); err != nil {
		return nil, err
	}
	told := make(map[string]bool, len(all))
	for i := range all {
		told[all[i].Name] = true
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return told[n] })
	if err := ask(names, "--name=", "--starttime=now-30days"); err != nil {
		return nil, err
	}
	return all, nil
}

func (c *Commands) accounted(ctx context.Context, which ...string) ([]Ended, error) {
	mark := token()
	out, err := c.run(ctx, nil, append([]string{
		"sacct", "--noheader", "--allocations", "--parsable2", "--delimiter=" + mark,
		"--format=JobIDRaw,State,ExitCode,Start,End,NodeList,JobName,Comment",
	}, which...)...)
	if err != nil {
		return nil, err
	}
	return parseAccounted(out, mark)
}

func parseAccounted(out, mark string) ([]Ended, error) {
	var all []Ended
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimRight(line, "\n"), mark)
		if len(f) != 8 {
			continue // the rest of a name with a newline, of somebody else's
		}
		start, okS := parseInstant(f[3])
		end, okE := parseInstant(f[4])
		if !okS || !okE {
			return nil, &FormatError{Source: "sacct", Field: "time", Value: f[3] + " " + f[4]}
		}
		// CANCELLED by 1000
		state, _, _ := strings.Cut(f[1], " ")
		e := Ended{ID: f[0], State: state, Start: start, End: end, NodeList: null(f[5]), Name: f[6], Comment: f[7]}
		if e.Code, e.Signal, okS = parseExit(f[2]); !okS {
			return nil, &FormatError{Source: "sacct", Field: "exit code", Value: f[2]}
		}
		all = append(all, e)
	}
	return all, nil
}

// parseExit reads CODE:SIGNAL.
func parseExit(text string) (code int, signal string, ok bool) {
	c, s, _ := strings.Cut(text, ":")
	n, okC := parseNumber(c)
	m, okS := parseNumber(s)
	if !okC || !okS || n > 255 || m > 255 {
		return 0, "", false
	}
	return int(n), signalName(int(m)), true
}

// mostCompleted is how much of the end of a file of completed jobs is read.
const mostCompleted = 64 << 20

// Completed returns what a file of jobcomp/filetxt says about jobs, by name: the
// last line of each. Names of other people's jobs can have newlines and look like
// anything: only whole lines count, and whoever asks compares more than the name.
func Completed(path string, names map[string]bool) (map[string]Ended, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	} else if _, err := f.Seek(max(0, size-mostCompleted), io.SeekStart); err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostCompleted))
	if err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	}
	found := make(map[string]Ended)
	for line := range strings.Lines(string(text)) {
		if e, ok := parseCompleted(line); ok && names[e.Name] {
			found[e.Name] = e
		}
	}
	return found, nil
}

// parseCompleted reads one line of the file.
func parseCompleted(line string) (Ended, bool) {
	if !strings.HasPrefix(line, "JobId=") || !strings.HasSuffix(line, "\n") {
		return Ended{}, false
	}
	v := pairs(line)
	start, okS := parseInstant(v["StartTime"])
	end, okE := parseInstant(v["EndTime"])
	code, signal, okX := parseExit(v["ExitCode"])
	_, err := strconv.ParseUint(v["JobId"], 10, 32)
	e := Ended{
		ID: v["JobId"], State: v["JobState"], Name: v["Name"], NodeList: null(v["NodeList"]),
		Start: start, End: end, Code: code, Signal: signal,
	}
	return e, okS && okE && okX && err == nil && e.State != ""
}

// absent says whether a file is not there, or not for us.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
