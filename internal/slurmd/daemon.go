package slurmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// daemon is a process of a cluster, a child of this process.
type daemon struct {
	cmd  *exec.Cmd
	gone chan struct{}
}

// launch starts a daemon with its output in DIR/log and env added to its environment. It
// dies with this process, even if this process is killed.
func launch(dir string, env []string, args ...string) (*daemon, error) {
	path, err := find(args[0])
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, "log", args[0]+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.CommandContext(context.Background(), path, args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"), env...)
	d, err := start(cmd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return d, nil
}

// start starts a daemon on a thread that lives as long as the daemon: the kernel takes the end
// of the forking thread for the end of the parent.
func start(cmd *exec.Cmd) (*daemon, error) {
	cmd.SysProcAttr = childAttributes()
	d := &daemon{cmd: cmd, gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(d.gone)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // usually ended by a signal
		}
	}()
	return d, <-started
}

func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-d.gone:
	case <-time.After(10 * time.Second):
		d.kill()
	}
}

func (d *daemon) kill() {
	_ = d.cmd.Process.Kill() // it may have ended
	<-d.gone
}

// end stops all daemons of a cluster and the jobs that they left.
func (c *Cluster) end() {
	for _, n := range c.nodes {
		_ = n.cmd.Process.Signal(syscall.SIGTERM) // all at once; stop below waits for each
	}
	for _, n := range c.nodes {
		n.stop()
	}
	if c.controller != nil {
		c.controller.stop()
	}
	c.sweep()
}

// sweep kills the jobs that outlived their slurmd: each slurmstepd with an open file in
// this cluster's directory, and its children.
func (c *Cluster) sweep() {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	parents := make(map[int]int)
	var steps []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
		if comm, err := os.ReadFile(filepath.Join("/proc", e.Name(), "comm")); err == nil &&
			strings.TrimSpace(string(comm)) == "slurmstepd" && c.owns(pid) {
			steps = append(steps, pid)
		}
	}
	for len(steps) > 0 {
		pid := steps[0]
		steps = steps[1:]
		for child, parent := range parents {
			if parent == pid {
				steps = append(steps, child)
			}
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

func (c *Cluster) owns(pid int) bool {
	base := filepath.Join("/proc", strconv.Itoa(pid))
	links := []string{filepath.Join(base, "cwd")}
	if fds, err := os.ReadDir(filepath.Join(base, "fd")); err == nil {
		for _, fd := range fds {
			links = append(links, filepath.Join(base, "fd", fd.Name()))
		}
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, c.dir+"/") {
			return true
		}
	}
	return false
}

// find returns the path of a Slurm program.
func find(name string) (string, error) {
	for _, dir := range []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return exec.LookPath(name)
}
