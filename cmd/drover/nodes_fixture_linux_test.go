package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/netns"
)

// cluster is a site with each node on its own host. The agent and the server are on another host,
// the front end. All are real processes.
type cluster struct {
	t       testing.TB
	program string
	dir     string // that all hosts share
	front   *netns.Host
	agent   *hosted
	server  *hosted
	nodes   []*machine
}

// machine is a node: a host with its daemon.
type machine struct {
	*netns.Host
	daemon *hosted
	dir    string
}

// hosted is a process that is killed and restarted.
type hosted struct {
	name string
	host *netns.Host
	args []string
	cmd  *exec.Cmd
	log  string
}

// clusters numbers the clusters of this process, because the names of all control groups must
// differ.
var clusters atomic.Int64

// newCluster starts a site of n nodes, each with some processors. It adds the lines to the
// configuration, and keys[i] to node i, for example "score: 100".
func newCluster(t testing.TB, n, processors int, lines, services string, keys ...string) *cluster {
	t.Helper()
	names := []string{"front"}
	prefix := fmt.Sprintf("t%d-%d", os.Getpid(), clusters.Add(1))
	for i := range n {
		names = append(names, prefix+"-"+string(rune('a'+i)))
	}
	hosts := netns.New(t, names...)
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	c := &cluster{t: t, program: program, dir: dir, front: hosts[0]}
	t.Cleanup(c.end)
	c.write("agent", "version: 1\nname: agent\nlisten: 127.0.0.1:7410\ngossip: {bind: 127.0.0.1:7411}\n"+
		"reallocation: {period: off}\n")
	var list strings.Builder
	for i, h := range hosts[1:] {
		m := &machine{Host: h, dir: filepath.Join(dir, "own", h.Name)}
		m.daemon = c.hosted(h, "node", "--name", h.Name, "--site", "lyon", "--listen", h.Address+":7470", "--insecure",
			"--dir", m.dir, "--processors", strconv.Itoa(processors), "--log-level", "debug")
		c.nodes = append(c.nodes, m)
		fmt.Fprintf(&list, "  - {name: %s, processors: %d, memory: 1GiB, address: \"http://%s:7470\"", h.Name,
			processors, h.Address)
		if i < len(keys) {
			list.WriteString(", " + keys[i])
		}
		list.WriteString("}\n")
	}
	c.write("lyon", fmt.Sprintf(`version: 1
name: lyon
listen: 127.0.0.1:7420
gossip: {bind: 127.0.0.1:7421, seeds: ["127.0.0.1:7411"]}
data_dir: %s
grace: 1s
nodes:
%s%s
services:
  inline:%s`, filepath.Join(dir, "lyon"), list.String(), lines, strings.ReplaceAll(services, "DIR", dir)))
	c.must(os.WriteFile(c.file("beat.sh"), []byte(beatScript), 0o600))
	c.agent = c.hosted(c.front, "agent", "--config", c.file("agent.yaml"))
	c.server = c.hosted(c.front, "server", "--config", c.file("lyon.yaml"), "--log-level", "debug")
	for _, m := range c.nodes {
		c.start(m.daemon)
	}
	c.start(c.agent)
	c.until("the agent is there", func() bool { return c.said(c.agent, "is up at") > 0 })
	c.start(c.server) // it retries an absent seed only every 2 seconds
	c.until("the site is up", func() bool {
		text, code := c.try("sites")
		return code == cmdline.ExitOK && strings.Contains(text, "lyon")
	})
	c.until("its nodes are there", func() bool {
		top := c.top()
		return !slices.ContainsFunc(top.Nodes, func(n *droverv1.NodeUse) bool { return n.Away })
	})
	return c
}

// top returns the current use of the site.
func (c *cluster) top() *droverv1.WatchSiteResponse {
	c.t.Helper()
	return decode(c.t, c.run(cmdline.ExitOK, "--json", "top", "lyon", "--once"), &droverv1.WatchSiteResponse{})
}

// shortDir returns a directory with a short path, without the test's name, because the path of a
// socket is limited.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "drover-nodes-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs of the processes are in %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) write(name, config string) {
	if err := os.WriteFile(c.file(name+".yaml"), []byte(config), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) hosted(h *netns.Host, args ...string) *hosted {
	return &hosted{name: h.Name + "-" + args[0], host: h, args: args, log: c.file(h.Name + "-" + args[0] + ".log")}
}

// start starts a process.
func (c *cluster) start(r *hosted) {
	c.t.Helper()
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	r.cmd = exec.Command(c.program, r.args...)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := r.host.Start(r.cmd); err != nil {
		c.t.Fatalf("start %s: %v", r.name, err)
	}
}

// kill sends SIGKILL to a process and waits for its end.
func (c *cluster) kill(r *hosted) {
	if r == nil || r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill() // the process may have ended already
	_ = r.cmd.Wait()
	r.cmd = nil
}

// off powers a node off: it kills the daemon, the supervisor and the tasks.
func (c *cluster) off(m *machine) {
	c.t.Helper()
	over := make(chan struct{})
	go func() { // reaps the daemon; Off ignores zombies
		c.kill(m.daemon)
		close(over)
	}()
	if err := m.Off(c.t.Context()); err != nil {
		c.t.Error(err)
	}
	<-over
}

// cut disconnects a node from the network, heal reconnects it.
func (c *cluster) cut(m *machine)  { c.must(m.Cut(c.t.Context())) }
func (c *cluster) heal(m *machine) { c.must(m.Heal(c.t.Context())) }

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// end kills all processes and removes their control groups.
func (c *cluster) end() {
	c.kill(c.server)
	c.kill(c.agent)
	for _, m := range c.nodes {
		over := make(chan struct{})
		go func() {
			c.kill(m.daemon)
			close(over)
		}()
		if err := m.Off(contextOfCleanup()); err != nil {
			c.t.Error(err)
		}
		<-over
		removeGroups(c.t, "node-"+m.Name)
	}
}

// removeGroups removes empty control groups.
func removeGroups(t testing.TB, name string) {
	var dirs []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "/"+name) {
			dirs = append(dirs, path)
		}
		return nil // other tests change their groups concurrently
	})
	for i := len(dirs) - 1; i >= 0; i-- { // those within first
		if err := syscall.Rmdir(dirs[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("control group %s: %v", dirs[i], err)
		}
	}
}

// try runs a command line at the front end.
func (c *cluster) try(args ...string) (string, int) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.program, append([]string{"--agent", "http://127.0.0.1:7410"},
		args...)...)
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := c.front.Start(cmd); err != nil {
		c.t.Fatal(err)
	}
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	if err != nil {
		return out.String() + stderr.String(), cmd.ProcessState.ExitCode()
	}
	return strings.TrimSpace(out.String()), cmdline.ExitOK
}

// run is try with a required exit code.
func (c *cluster) run(code int, args ...string) string {
	c.t.Helper()
	text, got := c.try(args...)
	if got != code {
		c.t.Fatalf("drover %s: exit code %d: %s", strings.Join(args, " "), got, text)
	}
	return text
}

// shown returns the job that drover job prints.
func (c *cluster) shown(id string) *droverv1.Job {
	c.t.Helper()
	return decode(c.t, c.run(cmdline.ExitOK, "--json", "job", id), &droverv1.Job{})
}

// until polls a condition.
func (c *cluster) until(what string, so func() bool) {
	c.t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			c.t.Fatal("not true after a minute: ", what)
		}
	}
}

// mute drops all messages from a node to the front end, unmute passes them again.
func (c *cluster) mute(m *machine)   { c.must(m.Mute(c.t.Context(), c.front)) }
func (c *cluster) unmute(m *machine) { c.must(m.Unmute(c.t.Context(), c.front)) }

// lose calls how for each node and waits until the server knows that the nodes are down.
func (c *cluster) lose(how func(*machine), nodes ...*machine) {
	c.t.Helper()
	before := make([]int, len(nodes))
	for i, m := range nodes {
		before[i] = c.said(c.server, "node-down: node="+m.Name)
		how(m)
	}
	for i, m := range nodes {
		c.until("the policy knows that "+m.Name+" is gone", func() bool {
			return c.said(c.server, "node-down: node="+m.Name) > before[i]
		})
	}
}

// said counts a text in a process's log.
func (c *cluster) said(r *hosted, text string) int {
	c.t.Helper()
	log, err := os.ReadFile(r.log)
	c.must(err)
	return strings.Count(string(log), text)
}
