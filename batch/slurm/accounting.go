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

	"github.com/seed-9b8f70bb/drover/batch/external"
)

// Plugins that keep the records of ended jobs.
const (
	slurmdbd = "accounting_storage/slurmdbd"
	filetxt  = "jobcomp/filetxt"
)

// History implements external.Cluster: with sacct if the cluster has slurmdbd, and
// otherwise, or if sacct fails, from the file of jobcomp/filetxt. Without either it
// returns no records and no error.
func (c *Cluster) History(ctx context.Context, ids, names []string, offline bool) ([]external.Record, error) {
	var silent error
	if c.database && !offline {
		list, err := c.accounted(ctx, ids, names)
		if err == nil || ctx.Err() != nil {
			return list, err
		}
		silent = &external.AccountingError{Err: err}
	}
	list, err := c.completed(names)
	if silent != nil {
		return list, silent // which matters more than an unreadable file
	}
	return list, err
}

// accounted asks sacct for jobs by ID, and by name for those that their IDs did not
// find. By name sacct only knows jobs that could be started, of the last month. If a job
// ran again under its ID the last run counts.
func (c *Cluster) accounted(ctx context.Context, ids, names []string) ([]external.Record, error) {
	var all []external.Record
	index := make(map[[2]string]int)
	ask := func(words []string, option string, more ...string) error {
		for some := range slices.Chunk(words, maxAsked) {
			got, err := c.sacct(ctx, append(more, option+strings.Join(some, ","))...)
			if err != nil {
				return fmt.Errorf("accounting: %w", err)
			}
			for _, r := range got {
				if i, again := index[[2]string{r.ID, r.Name}]; again {
					all[i] = r
					continue
				}
				index[[2]string{r.ID, r.Name}] = len(all)
				all = append(all, r)
			}
		}
		return nil
	}
	if err := ask(ids, "--jobs=", "--duplicates"); err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(all))
	for i := range all {
		known[all[i].Name] = true
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return known[n] })
	if err := ask(names, "--name=", "--starttime=now-30days"); err != nil {
		return nil, err
	}
	return all, nil
}

func (c *Cluster) sacct(ctx context.Context, which ...string) ([]external.Record, error) {
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

func parseAccounted(out, mark string) ([]external.Record, error) {
	var all []external.Record
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimRight(line, "\n"), mark)
		if len(f) != 8 {
			continue // part of another user's job name that contains a newline
		}
		start, okS := parseInstant(f[3])
		end, okE := parseInstant(f[4])
		if !okS || !okE {
			return nil, &FormatError{Source: "sacct", Field: "time", Value: f[3] + " " + f[4]}
		}
		state, _, _ := strings.Cut(f[1], " ") // CANCELLED by 1000
		r := external.Record{
			ID: f[0], State: state, Cause: causeOf(state), Start: start, End: end, Nodes: expand(null(f[5])),
			Name: f[6], Comment: f[7],
		}
		if r.Code, r.Signal, okS = parseExit(f[2]); !okS {
			return nil, &FormatError{Source: "sacct", Field: "exit code", Value: f[2]}
		}
		all = append(all, r)
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

// completed returns the records of the file of completed jobs, if there is one that
// this process can read.
func (c *Cluster) completed(names []string) ([]external.Record, error) {
	if c.jobComp == "" {
		return nil, nil
	}
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	found, err := readCompleted(c.jobComp, wanted)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	var list []external.Record
	for _, r := range found {
		list = append(list, r)
	}
	return list, err
}

// maxCompleted is how much of the end of a file of completed jobs is read, in bytes.
const maxCompleted = 64 << 20

// readCompleted returns the last line of each named job in a file of jobcomp/filetxt.
// Names of other users' jobs can contain newlines and imitate lines: callers compare
// more than the name.
func readCompleted(path string, names map[string]bool) (map[string]external.Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	} else if _, err := f.Seek(max(0, size-maxCompleted), io.SeekStart); err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxCompleted))
	if err != nil {
		return nil, fmt.Errorf("completed jobs: %w", err)
	}
	found := make(map[string]external.Record)
	for line := range strings.Lines(string(text)) {
		if r, nodes, ok := parseCompleted(line); ok && names[r.Name] {
			r.Nodes = expand(nodes)
			found[r.Name] = r
		}
	}
	return found, nil
}

// parseCompleted reads one whole line of the file, without its list of nodes.
func parseCompleted(line string) (r external.Record, nodes string, ok bool) {
	if !strings.HasPrefix(line, "JobId=") || !strings.HasSuffix(line, "\n") {
		return external.Record{}, "", false
	}
	v := pairs(line)
	start, okS := parseInstant(v["StartTime"])
	end, okE := parseInstant(v["EndTime"])
	code, signal, okX := parseExit(v["ExitCode"])
	_, err := strconv.ParseUint(v["JobId"], 10, 32)
	r = external.Record{
		ID: v["JobId"], State: v["JobState"], Cause: causeOf(v["JobState"]), Name: v["Name"],
		Start: start, End: end, Code: code, Signal: signal,
	}
	return r, null(v["NodeList"]), okS && okE && okX && err == nil && r.State != ""
}
