package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// The outcome of a job is lost with its supervisor. A job that can be executed twice runs
// again as another attempt; no other job does.
func TestJobsOfAKilledSupervisorAreLostOrRunAgain(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(*processSite){
		"while the server lives":  func(p *processSite) { p.killSupervisors() },
		"together with it":        func(p *processSite) { p.kill(); p.killSupervisors(); p.run() },
		"after the server":        func(p *processSite) { p.stop(); p.killSupervisors(); p.run() },
		"and the server after it": func(p *processSite) { p.killSupervisors(); p.kill(); p.run() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			p := newProcessSite(t, "lyon", "")
			p.run()
			asked := g.request("once", 1, true, 0)
			asked.Idempotent = true
			ids := map[string]string{
				"once":       p.submit(newID(t), g.request("once", 1, true, 0)).GetId(),
				"again":      p.submit(newID(t), g.request("again", 1, true, 0)).GetId(),
				"idempotent": p.submit(newID(t), asked).GetId(),
			}
			for _, id := range ids {
				p.ready(id)
			}
			kill(p)
			if len(p.supervisors()) == 0 {
				p.job(ids["once"]) // the next supervisor starts on demand
			}
			g.open()
			for service, id := range ids {
				j := untilJob(t, p.client, id, final)
				lines, _, _ := g.lines(t)
				want, runs := done, 2
				if service == "once" {
					want, runs = failed, 1
				}
				if j.GetState() != want || lines[id] != runs || int(j.GetAttempt()) != runs {
					t.Errorf("%s: %d runs, attempt %d, %v: %v", service, lines[id], j.GetAttempt(), j.GetState(),
						j.GetOutcome())
				}
				if service == "once" && !strings.Contains(j.GetOutcome().GetReason(), "lost") {
					t.Errorf("%s: reason %q", service, j.GetOutcome().GetReason())
				}
			}
		})
	}
}

// edit changes the attempt file of a job's first attempt.
func (p *processSite) edit(id string, change func([]byte) []byte) {
	p.t.Helper()
	name := filepath.Join(p.dir, "jobs", id, "attempts", "0-1")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, change(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestJobsEndedByARebootAreLostOrRunAgain(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	p := newProcessSite(t, "lyon", "")
	p.run()
	once := p.submit(newID(t), g.request("once", 1, true, 0)).GetId()
	again := p.submit(newID(t), g.request("again", 1, true, 0)).GetId()
	boot := regexp.MustCompile(`"boot":"[^"]*"`)
	for _, id := range []string{once, again} {
		p.ready(id)
	}
	p.kill()
	p.killSupervisors()
	_, _, pids := g.lines(t)
	for _, id := range []string{once, again} {
		if err := syscall.Kill(-pids[id], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		await(t, pids[id])
		p.edit(id, func(b []byte) []byte {
			changed := boot.ReplaceAll(b, []byte(`"boot":"00000000-0000-0000-0000-000000000000"`))
			if bytes.Equal(changed, b) {
				t.Fatalf("the attempt file has no boot ID: %s", b)
			}
			return changed
		})
	}
	g.open()
	p.run()
	if j := untilJob(t, p.client, once, final); j.GetState() != failed || !strings.Contains(j.GetOutcome().GetReason(),
		"restarted") {
		t.Errorf("once: %v", j)
	}
	if j := untilJob(t, p.client, again, final); j.GetState() != done || j.GetAttempt() != 2 {
		t.Errorf("again: %v", j)
	}
	if lines, _, _ := g.lines(t); lines[once] != 1 || lines[again] != 2 {
		t.Errorf("runs: %v", lines)
	}
}

// Nothing says whether the attempts still run, so the site kills them: a restartable job must not run
// beside its first copy. All other jobs of the site continue.
func TestADamagedAttemptFileLosesOnlyItsJob(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	p := newProcessSite(t, "lyon", "")
	p.run()
	once := p.submit(newID(t), g.request("once", 1, true, 0)).GetId()
	again := p.submit(newID(t), g.request("again", 1, true, 0)).GetId()
	for _, id := range []string{once, again} {
		p.ready(id)
	}
	waits := p.submit(newID(t), g.request("once", 4, false, 0)).GetId()
	p.kill()
	p.killSupervisors()
	_, _, pids := g.lines(t)
	for _, id := range []string{once, again} {
		p.edit(id, func(b []byte) []byte {
			b = bytes.Clone(b)
			b[1] ^= 0x20
			return b
		})
	}
	p.run()
	if j := untilJob(t, p.client, once, final); j.GetState() != failed ||
		!strings.Contains(j.GetOutcome().GetReason(), "damaged") {
		t.Errorf("once: %v", j)
	}
	for _, id := range []string{once, again} {
		await(t, pids[id]) // the first copy was killed
	}
	p.until(again, running)
	g.open()
	if j := untilJob(t, p.client, again, final); j.GetState() != done || j.GetAttempt() != 2 {
		t.Errorf("again: %v", j)
	}
	if j := untilJob(t, p.client, waits, final); j.GetState() != done {
		t.Errorf("the waiting job: %v", j)
	}
	if lines, _, _ := g.lines(t); lines[once] != 1 || lines[again] != 2 || lines[waits] != 1 {
		t.Errorf("runs: %v", lines)
	}
}

func TestJobThatDeletesItsClaimRunsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		saved  bool // the server's store says that the job runs
		orphan bool // its supervisor is killed too
		ends   bool // the job ends while the server is down
		file   bool // only the attempt file is removed, not its directory
		why    string
	}{
		"running, with supervisor":                                {saved: true, why: "exit status"},
		"running, without supervisor":                             {saved: true, orphan: true, why: "lost"},
		"running, start not saved, with supervisor":               {why: "exit status"},
		"running, start not saved, with supervisor, file removed": {file: true, why: "exit status"},
		"running, start not saved, without supervisor":            {orphan: true, why: "lost"},
		"ended, start not saved": {
			ends: true,
			why:  "lost|exit status",
		}, // the supervisor may still remember it
		"ended, start not saved, file removed":       {ends: true, file: true, why: "exit status"},
		"ended, start not saved, without supervisor": {ends: true, orphan: true, why: "lost"},
		"ended, start saved, file removed":           {saved: true, ends: true, file: true, why: "exit status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			p := newProcessSite(t, "lyon", "")
			p.run()
			id := p.submit(newID(t), g.request("once", 1, true, 1)).GetId()
			p.until(id, running)
			p.ready(id)
			p.kill()
			if !c.saved {
				p.forgetStart(id)
			}
			removed := filepath.Join(p.dir, "jobs", id, "attempts")
			if c.file {
				removed = filepath.Join(removed, "0-1")
			}
			if err := os.RemoveAll(removed); err != nil {
				t.Fatal(err)
			}
			if c.orphan {
				p.killSupervisors()
			}
			_, _, pids := g.lines(t)
			if c.ends {
				g.open()
				await(t, pids[id])
			}
			p.run()
			g.open()
			if j := untilJob(t, p.client, id, final); j.GetState() != failed ||
				!regexp.MustCompile(c.why).MatchString(j.GetOutcome().GetReason()) || j.GetAttempt() != 1 {
				t.Errorf("%v", j)
			}
			await(t, pids[id])
			if lines, _, _ := g.lines(t); lines[id] != 1 {
				t.Errorf("the job ran %d times", lines[id])
			}
		})
	}
}

// forgetStart sets the store of a killed server back to the moment when the job had been
// launched but its start was not saved yet.
func (p *processSite) forgetStart(id string) {
	p.t.Helper()
	st, err := store.Open(store.Config{Path: filepath.Join(p.dir, "drover.db"), Site: p.name})
	if err != nil {
		p.t.Fatal(err)
	}
	var before store.Batch
	err = st.Load(func(name string, hot []byte) error {
		var r site.Record
		if err := json.Unmarshal(hot, &r); name != id || err != nil {
			return err
		}
		if r.State != site.Running.String() {
			return fmt.Errorf("the job is %s", r.State)
		}
		r.State, r.Started, r.Run.Nodes = site.Starting.String(), 0, nil
		hot, err := json.Marshal(r)
		before.Put(id, hot)
		return err
	})
	if err == nil {
		err = st.Commit(&before)
	}
	if err := errors.Join(err, st.Close()); err != nil {
		p.t.Fatal(err)
	}
}

func TestServerDoesNotStartWithoutTheNodesOfARunningJob(t *testing.T) {
	g := newGround(t)
	p := newProcessSite(t, "lyon", "nodes: [{count: 2, processors: 2}]")
	p.run()
	id := p.submit(newID(t), g.request("once", 4, true, 0)).GetId()
	p.ready(id)
	p.stop()
	usual, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	for nodes, want := range map[string]string{
		"{count: 1, processors: 2}": "accepted: 1..2",
		"{count: 1, processors: 4}": "the platform has 1 nodes",
	} {
		less := bytes.Replace(usual, []byte("{count: 2, processors: 2}"), []byte(nodes), 1)
		if err := os.WriteFile(p.config, less, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.tryRun(); err == nil || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), want) {
			t.Errorf("start with nodes %s: %v", nodes, err)
			p.kill()
		}
	}
	if err := os.WriteFile(p.config, usual, 0o600); err != nil {
		t.Fatal(err)
	}
	p.run()
	g.open()
	p.until(id, done)
	p.whole(id)
}

func TestServerRefusesAnUnreadableStore(t *testing.T) {
	g := newGround(t)
	g.open()
	p := newProcessSite(t, "lyon", "")
	p.run()
	id := p.submit(newID(t), g.request("once", 1, false, 0)).GetId()
	p.until(id, done)
	p.stop()
	name := filepath.Join(p.dir, "drover.db")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"truncated": good[:3*4096],
		"empty":     {},
		"text":      []byte("not a store\n"),
		"zeros":     append(bytes.Clone(good[:8192]), make([]byte, len(good)-8192)...),
	} {
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		err := p.tryRun()
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: start returned %v", what, err)
			p.kill()
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, bad) {
			t.Errorf("%s: the store changed, %v", what, err)
		}
		if _, err := os.Stat(filepath.Join(p.dir, "jobs", id)); err != nil {
			t.Errorf("%s: the job's files: %v", what, err)
		}
	}
	if err := os.WriteFile(name, good, 0o600); err != nil {
		t.Fatal(err)
	}
	p.run()
	if j := p.job(id); j.GetState() != droverv1.JobState_JOB_STATE_DONE {
		t.Errorf("job after the restart: %v", j)
	}
	p.whole(id)
}
