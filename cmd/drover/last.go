package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// A small file holds the job that this user submitted last to each grid, so that "last"
// can select it. The key of a grid is the URL of an agent, see gridKey.

const (
	lastSchema   = "drover.last/1"
	maxGrids     = 32      // kept: the most recently used ones
	maxLastBytes = 1 << 20 // of the file
)

type lastFile struct {
	Schema string               `json:"schema"`
	Jobs   map[string]lastEntry `json:"jobs"` // by agent
}

type lastEntry struct {
	Job string    `json:"job"`
	At  time.Time `json:"at"`
}

// lastPath returns the path of the file, "" if the user has no home directory.
func (a *app) lastPath() string {
	dir := a.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // the XDG specification ignores relative paths
		home := a.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "drover", "last.json")
}

// gridKey normalizes the URL of an agent and removes its password.
func gridKey(agent string) string {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return client.Redacted(agent)
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if scheme == "http" && port == "" {
		port = "80"
	}
	return strings.TrimRight(scheme+"://"+host+":"+port+u.EscapedPath(), "/")
}

// readLast reads the file. A missing file is empty.
func readLast(path string) (lastFile, error) {
	kept := lastFile{Schema: lastSchema, Jobs: make(map[string]lastEntry)}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLastBytes {
		return kept, fmt.Errorf("%s has %d bytes, accepted: %d at most", path, info.Size(), maxLastBytes)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, err
	}
	var read lastFile
	if err := json.Unmarshal(text, &read); err != nil {
		return kept, fmt.Errorf("%s: %w", path, err)
	}
	if read.Schema != lastSchema {
		return kept, fmt.Errorf("%s: schema %q, accepted: %s", path, read.Schema, lastSchema)
	}
	for agent, e := range read.Jobs {
		if !isID(e.Job) {
			return kept, fmt.Errorf("%s: %q is not a job ID", path, e.Job)
		}
		if key := gridKey(agent); e.At.After(kept.Jobs[key].At) {
			kept.Jobs[key] = e
		}
	}
	return kept, nil
}

// rememberLast stores the job that was submitted last. A failure only affects the selector
// "last", so it is printed with --debug only.
func (a *app) rememberLast(job string, now time.Time) {
	path := a.lastPath()
	if job == "" || path == "" {
		return
	}
	if err := a.writeLast(path, job, now); err != nil && a.flags.Debug {
		_, _ = fmt.Fprintf(a.Stderr, "drover: cannot store the last job: %v\n", err)
	}
}

func (a *app) writeLast(path, job string, now time.Time) (err error) {
	kept, damaged := readLast(path) // a damaged file is replaced
	for _, agent := range a.agents() {
		kept.Jobs[gridKey(agent)] = lastEntry{Job: job, At: now.UTC()}
	}
	for len(kept.Jobs) > maxGrids {
		oldest := ""
		for agent, e := range kept.Jobs {
			if o := kept.Jobs[oldest]; oldest == "" || e.At.Before(o.At) || e.At.Equal(o.At) && agent < oldest {
				oldest = agent
			}
		}
		delete(kept.Jobs, oldest)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// Rename atomically, because another submission may write at the same time.
	f, err := os.CreateTemp(filepath.Dir(path), ".last.*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(append(text, '\n')); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if damaged != nil && a.flags.Debug {
		_, _ = fmt.Fprintf(a.Stderr, "drover: replaced a damaged file: %v\n", damaged)
	}
	return nil
}

// last returns the ID of the job that was submitted last to this grid.
func (a *app) last() (string, error) {
	const hint = "name the job by its ID; drover queue --all lists them"
	path := a.lastPath()
	if path == "" {
		return "",
			&cmdline.UsageError{
				Message: `"last" needs XDG_STATE_HOME or HOME, which hold the job that was submitted last`, Hint: hint,
			}
	}
	kept, err := readLast(path)
	if err != nil {
		return "", &cmdline.UsageError{Message: `"last": ` + err.Error(), Hint: hint}
	}
	var newest lastEntry
	for _, agent := range a.agents() {
		if e := kept.Jobs[gridKey(agent)]; e.At.After(newest.At) {
			newest = e
		}
	}
	if newest.Job == "" {
		var shown []string
		for _, agent := range a.agents() {
			shown = append(shown, client.Redacted(agent))
		}
		return "", &cmdline.UsageError{Message: `"last": nothing was submitted from here to ` + strings.Join(shown,
			", "), Hint: hint}
	}
	return newest.Job, nil
}
