package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

// serve runs the test binary as a server. It prints its address in one line and stops at
// SIGTERM.
func serve(args []string) {
	text, err := os.ReadFile(args[0])
	var cfg Config
	if err == nil {
		cfg, err = ParseConfig(text, "")
	}
	var s *Server
	if err == nil {
		cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Debug})
		s, err = New(cfg)
	}
	if err == nil {
		fmt.Println(s.Addr())
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err = s.Run(ctx)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// processSite is a site with its server in a process, which a test can kill and restart.
type processSite struct {
	t      testing.TB
	name   string
	dir    string // data
	config string // file
	// command runs the test binary as the server.
	command []string
	client  droverv1connect.ServerServiceClient
	mu      sync.Mutex
	direct  string // where the process listens; guarded by mu
	cmd     *osexec.Cmd
	log     *os.File
}

// newProcessSite writes the configuration of a site of two nodes with two processors each.
func newProcessSite(t testing.TB, name, lines string) *processSite {
	t.Helper()
	root := t.TempDir()
	p := &processSite{t: t, name: name, dir: filepath.Join(root, "data"), config: filepath.Join(root, "config.yaml")}
	if !strings.Contains(lines, "nodes:") {
		lines += "\nnodes: [{count: 2, processors: 2}]"
	}
	if !strings.Contains(lines, "gossip:") {
		lines += "\ngossip: {bind: 127.0.0.1:0}"
	}
	if !strings.Contains(lines, "services:") {
		lines += "\nservices:\n  inline:" + ledgerYAML
	}
	p.command = []string{"serve", p.config}
	p.write(lines)
	t.Cleanup(func() {
		p.kill()
		p.endAll()
		if t.Failed() {
			text, _ := os.ReadFile(p.config + ".log")
			kept, _ := os.ReadFile(filepath.Join(p.dir, "supervisor.log"))
			t.Logf("log of %s:\n%s\nsupervisor:\n%s", name, tailOf(text), tailOf(kept))
		}
	})
	return p
}

func tailOf(text []byte) []byte {
	if most := 3_000; len(text) > most {
		text = text[len(text)-most:]
	}
	return text
}

func (p *processSite) write(lines string) {
	p.t.Helper()
	text := fmt.Sprintf("version: 1\nname: %s\nlisten: 127.0.0.1:0\ndata_dir: %s\n%s\n", p.name, p.dir, lines)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// run starts the process and waits until it serves.
func (p *processSite) run() {
	p.t.Helper()
	if err := p.tryRun(); err != nil {
		p.t.Fatal(err)
	}
}

// tryRun returns the error of a server that cannot start.
func (p *processSite) tryRun() error {
	var err error
	if p.log, err = os.OpenFile(p.config+".log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	var said bytes.Buffer
	p.cmd = osexec.Command(os.Args[0], p.command...)
	p.cmd.Stderr = io.MultiWriter(p.log, &said)
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	addr, err := lines.ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		return errors.New(said.String())
	}
	p.mu.Lock()
	p.direct = strings.TrimSpace(addr)
	p.mu.Unlock()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	p.t.Cleanup(transport.CloseIdleConnections)
	p.client = droverv1connect.NewServerServiceClient(&http.Client{Transport: transport}, "http://"+p.address())
	return nil
}

// address returns the address of the process.
func (p *processSite) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.direct
}

// kill kills the server's process. Its supervisor keeps running.
func (p *processSite) kill() { p.end(syscall.SIGKILL) }

// stop stops the server's process and waits for its end.
func (p *processSite) stop() { p.end(syscall.SIGTERM) }

func (p *processSite) end(sig syscall.Signal) {
	if p.cmd == nil || p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(sig)
	_ = p.cmd.Wait()
	_ = p.log.Close()
}

// supervisors returns the processes of this site's supervisors.
func (p *processSite) supervisors() []int {
	return processesWith(func(args []string) bool {
		for i, a := range args {
			if a == "supervise" {
				return i+2 < len(args) && args[i+2] == p.dir
			}
		}
		return false
	})
}

// processesWith returns the processes with a command for which wanted returns true.
func processesWith(wanted func(args []string) bool) (pids []int) {
	dir, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range dir {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && wanted(strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killSupervisors kills those processes and waits for their end.
func (p *processSite) killSupervisors() {
	p.t.Helper()
	for _, pid := range p.supervisors() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			p.t.Error(err)
		}
		await(p.t, pid)
	}
}

// await waits for the end of a process, which need not be a child.
func await(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 30_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 || err != nil {
			t.Fatalf("process %d did not end: %v", pid, err)
		}
		return
	}
}

// endAll kills processes that a failed test left.
func (p *processSite) endAll() {
	for _, pid := range p.supervisors() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	entries, _ := os.ReadDir(filepath.Join(p.dir, "jobs"))
	for _, job := range entries {
		dir := filepath.Join(p.dir, "jobs", job.Name(), "attempts")
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			s, err := journal.Read(dir, f.Name())
			if err != nil || s.Run.Pid == 0 {
				continue
			}
			if alive, err := s.Run.Alive(); alive && err == nil {
				_ = syscall.Kill(-s.Run.Pid, syscall.SIGKILL)
			}
		}
	}
}

// submit submits a request under the given ID.
func (p *processSite) submit(id string, r *droverv1.Request) *droverv1.Job {
	p.t.Helper()
	res, err := p.client.Submit(within(p.t), &droverv1.SubmitRequest{JobId: id, Request: r})
	if err != nil {
		p.t.Fatal(err)
	}
	return res.GetJob()
}

// job returns one job.
func (p *processSite) job(id string) *droverv1.Job {
	p.t.Helper()
	res, err := p.client.GetJob(within(p.t), &droverv1.GetJobRequest{JobId: id})
	if err != nil {
		p.t.Fatalf("job %s: %v", id, err)
	}
	return res.GetJob()
}

// until watches a job until it reaches one of the states, and returns it.
func (p *processSite) until(id string, states ...droverv1.JobState) *droverv1.Job {
	p.t.Helper()
	return untilState(p.t, p.client, id, states...)
}

func untilState(
	t testing.TB, c droverv1connect.ServerServiceClient, id string, states ...droverv1.JobState,
) *droverv1.Job {
	t.Helper()
	return untilJob(t, c, id, func(j *droverv1.Job) bool {
		for _, s := range states {
			if j.GetState() == s {
				return true
			}
		}
		return false
	})
}

// untilJob watches a job until wanted returns true for it.
func untilJob(
	t testing.TB, c droverv1connect.ServerServiceClient, id string, wanted func(*droverv1.Job) bool,
) *droverv1.Job {
	t.Helper()
	stream, err := c.WatchJob(within(t), &droverv1.WatchJobRequest{JobId: id})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var last *droverv1.Job
	for stream.Receive() {
		if last = stream.Msg().GetJob(); wanted(last) {
			return last
		}
	}
	t.Fatalf("job did not become as wanted, last %v: %v", last, stream.Err())
	return nil
}

// ready waits until a job has logged its line.
func (p *processSite) ready(id string) {
	p.t.Helper()
	stream, err := p.client.ReadLogs(within(p.t), &droverv1.ReadLogsRequest{JobId: id, Follow: true})
	if err != nil {
		p.t.Fatal(err)
	}
	defer stream.Close()
	for stream.Receive() {
		if bytes.Contains(stream.Msg().GetData(), []byte("ready")) {
			return
		}
	}
	p.t.Fatalf("job %s is not ready: %v", id, stream.Err())
}

// whole fails the test unless an ended job has its log and its output.
func (p *processSite) whole(id string) {
	p.t.Helper()
	s := &testSite{client: p.client, base: "http://" + p.address()}
	if got, want := s.log(p.t, &droverv1.ReadLogsRequest{JobId: id}), "ready "+id+"\ndone "+id+"\n"; got != want {
		p.t.Errorf("log of job %s: %q", id, got)
	}
	if got, err := s.download(within(p.t), id, "out", 0); err != nil || string(got) != "out of "+id {
		p.t.Errorf("output of job %s: %q, %v", id, got, err)
	}
}

const (
	waiting   = droverv1.JobState_JOB_STATE_WAITING
	running   = droverv1.JobState_JOB_STATE_RUNNING
	done      = droverv1.JobState_JOB_STATE_DONE
	failed    = droverv1.JobState_JOB_STATE_FAILED
	killed    = droverv1.JobState_JOB_STATE_KILLED
	cancelled = droverv1.JobState_JOB_STATE_CANCELLED
	gone      = droverv1.JobState_JOB_STATE_GONE
	incoming  = droverv1.JobState_JOB_STATE_INCOMING
	held      = droverv1.JobState_JOB_STATE_HELD
)

func final(j *droverv1.Job) bool {
	switch j.GetState() {
	case done, failed, killed, cancelled, gone:
		return true
	}
	return false
}
