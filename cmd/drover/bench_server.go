package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// benchSite is the configuration of the server that a benchmark starts: one
// service that does nothing, on a machine on which many can do so at once.
const benchSite = `version: 1
name: bench
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %q
on_stop: end
grace: 1s
nodes: [{processors: %d}]
limits: {waiting: 1000000}
services:
  inline:
    - name: noop
      doc: Does nothing.
      command: ["true"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: "1"}}
`

// How long the server of a benchmark may take to start and to stop.
const (
	benchStart = 30 * time.Second
	benchStop  = 20 * time.Second
)

// benchServer is a server that a benchmark has started.
type benchServer struct {
	url  string
	dir  string
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{} // closed when it has ended
}

// startBenchServer starts a server in a directory of its own, for which it gets its
// configuration.
func startBenchServer(a *app, text func(dir string) string) (_ *benchServer, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	dir, err := os.MkdirTemp("", "drover-bench-")
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	s := &benchServer{dir: dir, log: &bytes.Buffer{}, done: make(chan struct{})}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start a server: %w\n%s", errors.Join(err, os.RemoveAll(dir)), s.log)
		}
	}()
	config := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(config, []byte(text(dir)), 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(a.ctx, program, "--json", "server", "--config", config, "--log-level", "warn")
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = benchStop
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C reaches it once
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	up := make(chan error, 1)
	go func() {
		var v upView
		err := json.NewDecoder(out).Decode(&v)
		s.url = v.URL
		up <- err
		_, _ = io.Copy(io.Discard, out)
		_ = s.cmd.Wait()
		close(s.done)
	}()
	timer := time.NewTimer(benchStart)
	defer timer.Stop()
	select {
	case err = <-up:
	case <-timer.C:
		err = fmt.Errorf("it is not up after %v", benchStart)
	}
	if err != nil {
		_ = s.cmd.Process.Kill()
		<-s.done
		return nil, err
	}
	return s, nil
}

// benchProcessors is how many jobs run at once: enough that starting them is the
// bottleneck, few enough for a small host.
const benchProcessors = 16

// stop ends the server and removes its directory.
func (s *benchServer) stop() {
	s.end()
	s.remove()
}

// end ends the server.
func (s *benchServer) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(benchStop)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}

// remove removes the directory of a server that has ended.
func (s *benchServer) remove() {
	// What outlives the server to end its last jobs may still write there.
	ticker := time.NewTicker(benchStop / 100)
	defer ticker.Stop()
	for range 100 {
		if os.RemoveAll(s.dir) == nil {
			return
		}
		<-ticker.C
	}
}
