package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// daemon is a process of a cluster, a child of this one.
type daemon struct {
	cmd  *exec.Cmd
	gone chan struct{}
}

// start runs a daemon in the foreground, with its output in DIR/log. It dies with
// the test's process, even if that is killed.
func start(t testing.TB, dir string, args ...string) *daemon {
	t.Helper()
	d, err := launch(dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// launch is start, with an environment of its own besides and without a test.
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	d := &daemon{cmd: cmd, gone: make(chan struct{})}
	go func() {
		defer close(d.gone)
		_ = d.cmd.Wait() // ended by a signal, as a rule
	}()
	return d, nil
}

func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-d.gone:
	case <-time.After(10 * time.Second):
		d.kill()
	}
}

func (d *daemon) kill() {
	_ = d.cmd.Process.Kill() // likewise
	<-d.gone
}

// startMunge runs the authentication that all clusters of a test share, and
// returns its socket.
func startMunge(t testing.TB, root string) string {
	t.Helper()
	dir := filepath.Join(root, "munge")
	for _, d := range []string{dir, filepath.Join(dir, "log")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := make([]byte, 128)
	if _, err := unix.Getrandom(key, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "sock")
	d := start(t, dir, "munged", "--foreground", "--num-threads=4",
		"--socket="+socket, "--key-file="+filepath.Join(dir, "key"), "--pid-file="+filepath.Join(dir, "pid"),
		"--log-file="+filepath.Join(dir, "munged.log"), "--seed-file="+filepath.Join(dir, "seed"))
	t.Cleanup(d.stop)
	Until(t, "munged listens", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	return socket
}

// end stops all daemons of a cluster, and what they have left running.
func (c *Cluster) end(t testing.TB) {
	if t.Failed() {
		t.Logf("cluster %s, the end of its log:\n%s", c.Name, c.Log())
	}
	for _, n := range c.nodes {
		_ = n.cmd.Process.Signal(syscall.SIGTERM) // stop waits for it, one after the other
	}
	for _, n := range c.nodes {
		n.stop()
	}
	c.controller.stop()
	c.sweep()
}

// sweep ends the jobs that outlive their slurmd: every slurmstepd that has
// something of this cluster's directory open, with its children.
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

// demand skips a test that cannot have a cluster, or more programs that it wants,
// or fails it where one was promised.
func demand(t testing.TB, more ...string) {
	t.Helper()
	var missing []string
	for _, name := range append([]string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sacct", "sinfo"}, more...) {
		if _, err := find(name); err != nil {
			missing = append(missing, name)
		}
	}
	why := ""
	switch {
	case len(missing) > 0:
		why = "no Slurm here (" + strings.Join(missing, ", ") + "): internal/slurmtest/install.sh installs it"
	case os.Geteuid() != 0:
		why = "Slurm's daemons want root"
	default:
		return
	}
	if os.Getenv("SLURMTEST_REQUIRED") != "" {
		t.Fatal(why)
	}
	t.Skip("SKIPPED WITHOUT A CLUSTER: " + why)
}

// find returns the file of a program of Slurm's.
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

// shortDir returns a directory in which the names of sockets are short enough.
// Other accounts can enter it, as authentication wants.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "slurm") //nolint:usetesting // t.TempDir's are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("directory of clusters: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
