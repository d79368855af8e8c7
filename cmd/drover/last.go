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

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// What this user submitted last, at each grid, is kept in a small file, so that a job can
// be named "last". A grid is known by the URLs of its agents, see gridKey.

const (
	lastSchema = "drover.last/1"
	// mostGrids bounds how many grids are kept: the ones that were used last.
	mostGrids = 32
	// largestLast bounds what is read of the file, bytes.
	largestLast = 1 << 20
)

type lastFile struct {
	Schema string               `json:"schema"`
	Jobs   map[string]lastEntry `json:"jobs"` // by agent
}

type lastEntry struct {
	Job string    `json:"job"`
	At  time.Time `json:"at"`
}

// lastPath returns where the file is, "" for a user without a home.
func (a *app) lastPath() string {
	dir := a.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // a relative one is to be ignored, the standard says
		home := a.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "drover", "last.json")
}

// gridKey is how the URL of an agent is written in the file: the same for all that mean
// the same, and without a password.
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

// readLast returns what is kept; nothing, when there is no file.
func readLast(path string) (lastFile, error) {
	kept := lastFile{Schema: lastSchema, Jobs: make(map[string]lastEntry)}
	if info, err := os.Stat(path); err == nil && info.Size() > largestLast {
		return kept, fmt.Errorf("%s has %d bytes, accepted: %d at most", path, info.Size(), largestLast)
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
		if !isJobID(e.Job) {
			return kept, fmt.Errorf("%s: %q is no job's ID", path, e.Job)
		}
		if key := gridKey(agent); e.At.After(kept.Jobs[key].At) {
			kept.Jobs[key] = e
		}
	}
	return kept, nil
}

// keepLast notes the job that was submitted last. That it cannot be noted harms nothing
// but the word "last", so only --debug tells.
func (a *app) keepLast(job string, now time.Time) {
	path := a.lastPath()
	if job == "" || path == "" {
		return
	}
	if err := a.writeLast(path, job, now); err != nil && a.flags.Debug {
		_, _ = fmt.Fprintf(a.Stderr, "drover: the last job is not noted: %v\n", err)
	}
}

func (a *app) writeLast(path, job string, now time.Time) (err error) {
	kept, damaged := readLast(path) // is then written anew
	for _, agent := range a.agents() {
		kept.Jobs[gridKey(agent)] = lastEntry{Job: job, At: now.UTC()}
	}
	for len(kept.Jobs) > mostGrids {
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
	// Another submission may be writing, too: each file is whole.
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
		_, _ = fmt.Fprintf(a.Stderr, "drover: written anew: %v\n", damaged)
	}
	return nil
}

// last returns the ID of the job that was submitted last to this grid.
func (a *app) last() (string, error) {
	const hint = "name the job by its ID; drover queue --all lists them"
	path := a.lastPath()
	if path == "" {
		return "", &cmdline.UsageError{Message: `"last" needs XDG_STATE_HOME or HOME, where the job that was submitted last is kept`, Hint: hint}
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
		return "", &cmdline.UsageError{Message: `"last": nothing was submitted from here to ` + strings.Join(shown, ", "), Hint: hint}
	}
	return newest.Job, nil
}

// isJobID says whether a text is a whole ID.
func isJobID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
