package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// diskSize is the size of the small disk in bytes: enough for the store to grow twice.
const diskSize = 40 << 20

// hold makes the test binary the owner of a small disk in a mount namespace of its own.
// It ends with its standard input.
func hold(dir string) {
	err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize))
	}
	fmt.Println("disk:", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	syscall.Exit(0)
}

// enter runs the rest of the command in another process's mount namespace.
func enter(namespace string, args []string) {
	runtime.LockOSThread()
	fd, err := unix.Open(namespace, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Unshare(unix.CLONE_FS)
	}
	if err == nil {
		err = unix.Setns(fd, unix.CLONE_NEWNS)
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", append([]string{os.Args[0]}, args...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	syscall.Exit(1)
}

// smallDisk is a site on a small disk.
type smallDisk struct {
	*processSite
	root string // data directory as this process sees it
}

// onSmallDisk returns a site with its data directory on a small disk.
func onSmallDisk(t *testing.T, lines string) *smallDisk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a disk needs root")
	}
	p := newProcessSite(t, "lyon", lines)
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	holder := osexec.Command(os.Args[0], "hold", p.dir)
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Skipf("mounting a disk needs a mount namespace: %v", err)
	}
	t.Cleanup(func() {
		p.kill()
		_ = in.Close()
		_ = holder.Wait()
	})
	said := make([]byte, 256)
	n, _ := out.Read(said)
	if got := strings.TrimSpace(string(said[:n])); got != "disk: <nil>" {
		t.Skipf("mounting a disk failed: %s", got)
	}
	p.command = []string{"enter", fmt.Sprintf("/proc/%d/ns/mnt", holder.Process.Pid), "serve", p.config}
	return &smallDisk{processSite: p, root: fmt.Sprintf("/proc/%d/root%s", holder.Process.Pid, p.dir)}
}

// fill fills the disk.
func (d *smallDisk) fill() {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.root, "ballast"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
}

// free empties the disk again.
func (d *smallDisk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.root, "ballast")); err != nil {
		d.t.Fatal(err)
	}
}

// refused submits jobs until the full disk refuses one. It adds the accepted jobs to
// accepted and returns the refused one.
func (d *smallDisk) refused(g *ground, accepted *[]*history) *history {
	d.t.Helper()
	for range 10_000 {
		h := &history{id: newID(d.t), request: g.request("once", 4, false, 1)}
		res, err := d.client.Submit(within(d.t), &droverv1.SubmitRequest{JobId: h.id, Request: h.request})
		if err == nil {
			h.accepted = res.GetJob()
			*accepted = append(*accepted, h)
			continue
		}
		if code, p := detail(d.t, err); code != connect.CodeResourceExhausted || p.GetReason() != "disk-full" ||
			!p.GetRetryable() {
			d.t.Fatalf("refused with %v %v", code, p)
		}
		return h
	}
	d.t.Fatal("no job was refused on the full disk")
	return nil
}

func (d *smallDisk) degraded() bool {
	d.t.Helper()
	res, err := d.client.GetStatus(within(d.t), &droverv1.GetStatusRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	return res.GetStatus().GetDegraded()
}

func TestServerSurvivesAFullDiskWithoutARestart(t *testing.T) {
	g := newGround(t)
	d := onSmallDisk(t, "policy: {name: fcfs}")
	d.run()
	runs := &history{id: newID(t), request: g.request("once", 4, true, 1)}
	runs.accepted = d.submit(runs.id, runs.request)
	d.ready(runs.id)
	accepted := []*history{runs}
	for range 3 {
		h := &history{id: newID(t), request: g.request("once", 4, false, 1)}
		h.accepted = d.submit(h.id, h.request)
		accepted = append(accepted, h)
	}
	d.fill()
	d.refused(g, &accepted)
	if !d.degraded() {
		t.Error("the status is not degraded")
	}
	pid := d.cmd.Process.Pid
	_, _, pids := g.lines(t)
	g.open() // the job ends while the disk is full
	await(t, pids[runs.id])
	for _, h := range accepted {
		if j := d.job(h.id); j.GetState() != running && j.GetState() != waiting {
			t.Errorf("job %s on the full disk: %v", h.id, j)
		}
	}
	if _, err := d.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: accepted[3].id}); err == nil {
		t.Error("a cancel that is not durable was acknowledged")
	}
	d.refused(g, &accepted)
	d.free()
	for _, h := range accepted {
		if j := untilJob(t, d.client, h.id, final); j.GetState() != failed || j.GetOutcome().GetExitCode() != 1 {
			t.Errorf("job %s ended as %v", h.id, j)
		}
	}
	if lines, _, _ := g.lines(t); len(lines) != len(accepted) {
		t.Errorf("%d jobs of %d ran", len(lines), len(accepted))
	}
	if d.degraded() || d.cmd.Process.Pid != pid {
		t.Error("the status is still degraded")
	}
	d.check(accepted)
}

func TestJobRefusedOnAFullDiskRunsWhenResubmitted(t *testing.T) {
	g := newGround(t)
	d := onSmallDisk(t, "policy: {name: fcfs}")
	d.run()
	runs := d.submit(newID(t), g.request("once", 4, true, 1)).GetId()
	d.ready(runs)
	d.fill()
	var accepted []*history
	refused := d.refused(g, &accepted)
	d.free()
	again := &droverv1.SubmitRequest{JobId: refused.id, Request: refused.request}
	for _, err := d.client.Submit(within(t), again); err != nil; _, err = d.client.Submit(within(t), again) {
		if _, p := detail(t, err); p.GetReason() != "disk-full" {
			t.Fatal(err)
		}
		pause(within(t), 50*time.Millisecond) // the server checks once a second
	}
	g.open()
	if j := untilJob(t, d.client, refused.id, final); j.GetState() != failed || j.GetOutcome().GetExitCode() != 1 {
		t.Errorf("job: %v", j)
	}
}

func TestServerRestartsOnAFullDisk(t *testing.T) {
	g := newGround(t)
	d := onSmallDisk(t, "policy: {name: easy}")
	d.run()
	runs := &history{id: newID(t), request: g.request("once", 4, true, 1)}
	runs.accepted = d.submit(runs.id, runs.request)
	d.ready(runs.id)
	accepted := []*history{runs}
	cancelled := &history{id: newID(t), request: g.request("once", 4, false, 1), cancelled: true}
	cancelled.accepted = d.submit(cancelled.id, cancelled.request)
	d.fill()
	for round := range 3 {
		d.refused(g, &accepted)
		d.kill()
		if round == 1 { // something to record after the restart
			_, _, pids := g.lines(t)
			g.open()
			await(t, pids[runs.id])
		}
		d.run()
		for _, h := range accepted {
			d.job(h.id)
		}
	}
	d.refused(g, &accepted)
	d.free()
	for _, h := range accepted {
		if j := untilJob(t, d.client, h.id, final); j.GetState() != failed || j.GetOutcome().GetExitCode() != 1 {
			t.Errorf("job %s ended as %v", h.id, j)
		}
	}
	d.until(cancelled.id, failed)
	lines, _, _ := g.lines(t)
	for id, n := range lines {
		if n != 1 {
			t.Errorf("job %s ran %d times", id, n)
		}
	}
	d.check(accepted)
}

// The store has free pages but the disk is full. Jobs that cannot be launched wait for
// space and lose no walltime.
func TestJobsWaitForDiskSpaceBeforeLaunch(t *testing.T) {
	g := newGround(t)
	d := onSmallDisk(t, "policy: {name: fcfs}")
	d.run()
	runs := d.submit(newID(t), g.request("once", 4, true, 1)).GetId()
	d.ready(runs)
	var queue []string
	for range 3 {
		r := g.request("once", 0, false, 1)
		r.Shapes = []*droverv1.Shape{{Width: 4, Walltime: seconds(2)}}
		queue = append(queue, d.submit(newID(t), r).GetId())
	}
	var churn []string
	for range 300 {
		churn = append(churn, d.submit(newID(t), g.request("once", 4, false, 1)).GetId())
	}
	for _, id := range churn {
		d.cancel(id)
	}
	for _, id := range churn {
		d.until(id, cancelled)
	}
	d.fill()
	_, _, pids := g.lines(t)
	g.open()
	await(t, pids[runs])
	for range 30 { // longer than the walltime; this needs real time
		pause(within(t), 100*time.Millisecond)
		for _, id := range queue {
			if j := d.job(id); final(j) {
				t.Fatalf("the job ended without space for its files: %v", j)
			}
		}
	}
	d.free()
	for _, id := range append(queue, runs) {
		if j := untilJob(t, d.client, id, final); j.GetState() != failed || j.GetOutcome().GetExitCode() != 1 {
			t.Errorf("job: %v", j)
		}
	}
	if lines, _, _ := g.lines(t); len(lines) != 4 {
		t.Errorf("runs: %v", lines)
	}
}

// A job that lacks space for its copies waits and keeps its number of attempts.
func TestJobWaitsForDiskSpaceForItsInOutFiles(t *testing.T) {
	g := newGround(t)
	d := onSmallDisk(t, "services:\n  inline:"+ledgerYAML+`
    - name: signs
      doc: Adds a sign.
      args: [{name: c, type: file-inout}]
      command: [sh, -c, 'printf + >> "$0"', "{c}"]
      model: {fixed: {width: 4, time: 300s}}
`)
	d.run()
	busy := d.submit(newID(t), g.request("once", 4, true, 0)).GetId()
	d.ready(busy)
	content := bytes.Repeat([]byte("x"), diskSize/4)
	s := &testSite{client: d.client, base: "http://" + d.address()}
	f, err := s.upload(within(t), content)
	if err != nil {
		t.Fatal(err)
	}
	id := d.submit(newID(t), &droverv1.Request{Service: "signs", Arguments: arguments{"c": file(f)}}).GetId()
	// Space for everything but the copy.
	d.fill()
	if err := os.Truncate(filepath.Join(d.root, "ballast"), d.ballast()-int64(len(content))/2); err != nil {
		t.Fatal(err)
	}
	g.open()
	d.until(busy, done)
	d.logSays("copies of 10485760 bytes")
	if j := d.job(id); final(j) {
		t.Fatalf("%v", j)
	}
	d.free()
	if j := d.until(id, done, failed); j.GetState() != done || j.GetAttempt() > 2 ||
		j.GetOutputs()[0].GetSizeBytes() != int64(len(content))+1 {
		t.Errorf("%v", j)
	}
}

// ballast returns the filled bytes of the disk.
func (d *smallDisk) ballast() int64 {
	d.t.Helper()
	info, err := os.Stat(filepath.Join(d.root, "ballast"))
	if err != nil {
		d.t.Fatal(err)
	}
	return info.Size()
}

// logSays waits until the server's log contains what.
func (d *smallDisk) logSays(what string) {
	d.t.Helper()
	ctx := within(d.t)
	for ctx.Err() == nil {
		if text, _ := os.ReadFile(d.config + ".log"); bytes.Contains(text, []byte(what)) {
			return
		}
		pause(ctx, 20e6)
	}
	d.t.Fatalf("the server's log lacks %q", what)
}

// The disk becomes full while a file is written, not while a record is.
func TestUploadToAFullDiskIsRefusedWithoutATrace(t *testing.T) {
	d := onSmallDisk(t, "")
	d.run()
	put := func(data []byte) (int, *droverv1.ErrorDetail) {
		req, err := http.NewRequestWithContext(within(t), http.MethodPut,
			"http://"+d.address()+"/v1/content/"+sum(data),
			bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var text bytes.Buffer
		_, _ = text.ReadFrom(res.Body)
		problem := &droverv1.ErrorDetail{}
		if res.StatusCode >= 300 {
			if err := protojson.Unmarshal(text.Bytes(), problem); err != nil {
				t.Errorf("%s: %v", text.Bytes(), err)
			}
		}
		return res.StatusCode, problem
	}
	large := bytes.Repeat([]byte("room "), 2*diskSize/5)
	if status, p := put(large); status != http.StatusInsufficientStorage || p.GetReason() != "disk-full" ||
		!p.GetRetryable() {
		t.Errorf("PUT: %d, %v", status, p)
	}
	s := &testSite{client: d.client, base: "http://" + d.address()}
	_, err := s.upload(within(t), large)
	if code, p := detail(t, err); code != connect.CodeResourceExhausted || p.GetReason() != "disk-full" {
		t.Errorf("Upload: %v, %v", code, p)
	}
	if status, p := put([]byte("small")); status != http.StatusCreated {
		t.Errorf("afterwards: %d, %v", status, p)
	}
	http.DefaultClient.CloseIdleConnections()
}
