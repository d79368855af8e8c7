package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// These tests use a site with each node on its own host: real daemons, supervisors and programs,
// each host in its own network namespace.

// placed fails the test unless the jobs use all nodes.
func (c *cluster) placed(ids ...string) {
	c.t.Helper()
	used := map[*machine]bool{}
	for _, id := range ids {
		used[c.on(id, 1)] = true
	}
	if len(used) != len(c.nodes) {
		c.t.Errorf("jobs run on %d of %d nodes", len(used), len(c.nodes))
	}
}

// done tells jobs to end, and checks that each ran the given number of times.
func (c *cluster) done(copies int, ids ...string) {
	c.t.Helper()
	c.finish(ids...)
	for _, id := range ids {
		c.run(cmdline.ExitOK, "wait", id)
		if all := c.copies(id); len(all) != copies || !all[len(all)-1].ended {
			c.t.Errorf("job %s ran as %+v, want %d copies", id, all, copies)
		}
	}
}

func (c *cluster) each(service string, n int) (ids []string) {
	c.t.Helper()
	for range n {
		ids = append(ids, c.beat(service))
	}
	return ids
}

const ranksYAML = `
    - name: ranks
      doc: Says who it is on each node.
      command: [sh, -c, 'echo "rank $DROVER_RANK of $DROVER_RANKS on $(readlink /proc/self/ns/net)"']
      launch: per-node
      memory: 96MiB
      model: {fixed: {width: 3, time: 1m}}
    - name: count
      doc: Counts primes.
      args: [{name: below, type: int}]
      command: [drover, service, primes, "--below={below}"]
      memory: 64MiB
      model: {fixed: {width: 1, time: 1m}}
`

func TestJobsRunOnAllHostsOfASite(t *testing.T) {
	for _, policy := range []string{"easy", "dfrs"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3, 1, "policy: {name: "+policy+"}\n", beatYAML+ranksYAML)
			ids := c.each("beat", 3)
			c.placed(ids...)
			for _, id := range ids {
				if v := c.shown(id); len(v.Nodes) != 1 || v.Nodes[0] != c.on(id, 1).Name {
					t.Errorf("job %s is shown on %q", id, v.Nodes)
				}
			}
			c.done(1, ids...)
			if text := c.run(cmdline.ExitOK, "call", "count", "below=1000000"); !strings.Contains(text,
				"primes      78498 below 1000000\n") {
				t.Errorf("the count is %s", text)
			}
			wide := c.run(cmdline.ExitOK, "submit", "ranks")
			c.run(cmdline.ExitOK, "wait", wide)
			lines := strings.Split(c.run(cmdline.ExitOK, "logs", wide), "\n")
			slices.Sort(lines)
			hosts := map[string]bool{}
			for i, line := range lines {
				said, host, _ := strings.Cut(line, " on ")
				hosts[host] = true
				if want := "rank " + strconv.Itoa(i) + " of 3"; said != want {
					t.Errorf("%q, want %q", said, want)
				}
			}
			if len(lines) != 3 || len(hosts) != 3 {
				t.Errorf("%q", lines)
			}
		})
	}
}

// The idempotent job runs again on another node. The other job fails with a reason.
func TestPoweredOffNodesLoseOnlyTheirJobs(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1, "lease: 3s\npolicy: {name: easy}\n", beatYAML)
	again, plain := c.beat("again"), c.beat("beat")
	first, second := c.on(again, 1), c.on(plain, 1)
	c.off(first)
	c.off(second)
	if on := c.on(again, 2); on == first || on == second {
		t.Error("the job runs again on a node that is off")
	}
	c.run(cmdline.ExitFailure, "wait", plain)
	if v := c.shown(plain); v.GetState() != droverv1.JobState_JOB_STATE_FAILED || v.Outcome == nil ||
		!strings.Contains(v.Outcome.Reason, second.Name) {
		t.Errorf("%+v %+v", v, v.Outcome)
	}
	c.done(2, again)
	c.done(1, c.beat("beat")) // on the node that is left
	c.start(first.daemon)
	c.start(second.daemon)
	ids := c.each("beat", 3)
	c.placed(ids...)
	c.done(1, ids...)
	if n := len(c.copies(plain)); n != 1 {
		t.Errorf("the failed job ran %d times", n)
	}
}

// A node that is unreachable for longer than the lease ends its jobs, and only then do they start
// on another node. The same holds for a node that receives all messages but whose answers are
// lost: only an answered renewal extends the lease.
func TestALongPartitionHealsWithoutADoubleRun(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 5, 1, "lease: 3s\npolicy: {name: easy}\n", beatYAML)
	again, unheard, plain := c.beat("again"), c.beat("again"), c.beat("beat")
	away, mute, third := c.on(again, 1), c.on(unheard, 1), c.on(plain, 1)
	c.lose(c.cut, away, third)
	c.lose(c.mute, mute)
	for _, id := range []string{again, unheard} {
		if on := c.on(id, 2); slices.Contains([]*machine{away, mute, third}, on) {
			t.Error("the job starts on an unreachable node")
		}
	}
	c.run(cmdline.ExitFailure, "wait", plain)
	if v := c.shown(plain); v.GetState() != droverv1.JobState_JOB_STATE_FAILED || v.Outcome == nil ||
		!strings.Contains(v.Outcome.Reason, third.Name) {
		t.Errorf("%+v %+v", v, v.Outcome)
	}
	c.heal(away)
	c.heal(third)
	c.unmute(mute)
	c.done(2, again, unheard)
	ids := c.each("beat", 5)
	c.placed(ids...)
	c.done(1, ids...)
	if n := len(c.copies(plain)); n != 1 {
		t.Errorf("the failed job ran %d times", n)
	}
}

// A partition that is shorter than the lease ends no job. Jobs that end during the partition are
// reported after it.
func TestAShortPartitionEndsNoJob(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, "lease: 15s\npolicy: {name: easy}\n", beatYAML)
	ids := c.each("again", 4)
	c.placed(ids...)
	away := c.on(ids[0], 1)
	var there []string
	for _, id := range ids {
		if c.on(id, 1) == away {
			there = append(there, id)
		}
	}
	c.lose(c.cut, away)
	c.finish(there[0])
	c.until("the job has ended on the unreachable node", func() bool { return c.copies(there[0])[0].ended })
	if v := c.shown(there[0]); v.GetState() != droverv1.JobState_JOB_STATE_RUNNING {
		t.Errorf("state %s, want RUNNING until the node answers", v.State)
	}
	late := c.beat("again") // it waits: no other processor is known to be free
	c.heal(away)
	c.done(1, there[0])
	c.done(1, ids...)
	c.done(1, late)
	for _, id := range ids {
		if v := c.shown(id); v.Attempt != 1 {
			t.Errorf("job %s needed %d attempts", id, v.Attempt)
		}
	}
}

// A restart does not tell a server more about an unreachable node: the state of its jobs is
// unknown until the lease ends or the node answers.
func TestAServerKilledDuringAPartitionStartsNoJobTwice(t *testing.T) {
	for name, heals := range map[string]bool{"that lasts": false, "that heals": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lease := map[bool]string{false: "3s", true: "20s"}[heals]
			c := newCluster(t, 3, 1, "lease: "+lease+"\npolicy: {name: easy}\n", beatYAML)
			again, plain := c.beat("again"), c.beat("beat")
			lost := []*machine{c.on(again, 1), c.on(plain, 1)}
			other := c.beat("beat")
			c.on(other, 1)
			for _, m := range lost {
				c.cut(m)
			}
			c.kill(c.server)
			c.finish(plain) // its end cannot be reported
			c.start(c.server)
			c.until("the server is there again", func() bool {
				_, code := c.try("job", other)
				return code == cmdline.ExitOK
			})
			if n := len(c.copies(other)); n != 1 {
				t.Errorf("the job on the reachable node ran %d times", n)
			}
			runs := 1
			if !heals {
				c.finish(other) // makes room
				c.on(again, 2)
				runs = 2
				c.run(cmdline.ExitFailure, "wait", plain)
			}
			for _, m := range lost {
				c.heal(m)
			}
			if heals {
				c.run(cmdline.ExitOK, "wait", plain)
			}
			c.done(runs, again)
			c.done(1, other)
			if all := c.copies(plain); len(all) != 1 || !all[0].ended {
				t.Errorf("%+v", all)
			}
			ids := c.each("beat", 3)
			c.placed(ids...)
			c.done(1, ids...)
		})
	}
}
