package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Accounted returns what the accounting database says about jobs by their names,
// of those that have ended. Clusters without one answer with a *RefusedError.
func (c *Commands) Accounted(ctx context.Context, names []string) ([]Ended, error) {
	mark := token()
	out, err := c.run(ctx, nil, "sacct", "--noheader", "--allocations", "--parsable2", "--delimiter="+mark, "--starttime=now-30days",
		"--name="+strings.Join(names, ","), "--format=JobIDRaw,State,ExitCode,Start,End,NodeList,JobName,Comment")
	if err != nil {
		return nil, fmt.Errorf("accounting: %w", err)
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
