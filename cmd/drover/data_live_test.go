package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// noiseFile writes a file of random bytes that depend only on the seed.
func noiseFile(t *testing.T, name string, size int, seed byte) string {
	t.Helper()
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content) // never fails
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// same fails the test unless two files have the same content.
func same(t *testing.T, a, b string) {
	t.Helper()
	one, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := os.ReadFile(b); err != nil || !bytes.Equal(one, other) {
		t.Fatalf("%s (%d bytes) is not %s (%d bytes): %v", b, len(other), a, len(one), err)
	}
}

// stays lists the sites that hold the data: "lyon" for the original, "nancy copy" for a copy.
func (g *grid) stays(t *testing.T, id string) string {
	t.Helper()
	list := decode(t, g.must(t, cmdline.ExitOK, "--json", "data", "list"), &droverv1.AgentServiceListDataResponse{})
	var at []string
	for _, d := range list.Data {
		if d.GetId() == id {
			at = append(at, strings.TrimSpace(d.GetSite()+map[bool]string{true: " copy"}[d.GetCopy()]))
		}
	}
	return strings.Join(at, ", ")
}

// copying is a service that copies its input.
const copying = `
    - name: copy
      doc: Copies a file.
      args: [{name: from, type: file}, {name: to, type: file-out}]
      command: [cp, "{from}", "{to}"]
      walltime: {margin: 60s}
      model: {fixed: {width: 1, time: 5}}
`

func TestJobsRunAtTheSiteOfStickyDataAndOtherDataAreCopied(t *testing.T) {
	g := startGrid(t)
	matrix, err := filepath.Abs("../../server/services/lu/testdata/lund_a.mtx")
	if err != nil {
		t.Fatal(err)
	}
	sticky := g.must(t, cmdline.ExitOK, "data", "put", matrix, "--site", "nancy", "--mode", "sticky")
	job := g.shown(t, g.must(t, cmdline.ExitOK, "submit", "lu", "order=147", "matrix=data:"+sticky[:30], "--keep",
		"solution"))
	if job.GetSite() != "nancy" || job.GetRequest().GetArguments()["matrix"].GetFileValue().GetDataId() != sticky {
		t.Errorf("the job is at %s with %v", job.GetSite(), job.GetRequest())
	}
	g.must(t, cmdline.ExitOK, "wait", job.GetId())
	if why := g.must(t, cmdline.ExitOK, "why", job.GetId()); !strings.Contains(why, "lyon") ||
		!strings.Contains(why, sticky) {
		t.Errorf("drover why does not explain why the job is not at lyon:\n%s", why)
	}
	g.must(t, cmdline.ExitRefused, "submit", "lu", "order=147", "matrix=data:"+sticky, "--site", "lyon")

	kept := job.GetRequest().GetKeep()["solution"].GetDataId()
	if at := g.stays(t, kept); at != "nancy" {
		t.Errorf("the solution is at %q", at)
	}
	there := g.shown(t, g.must(t, cmdline.ExitOK, "submit", "lu", "order=147", "matrix=data:"+kept, "--site", "lyon"))
	if at := g.stays(t, kept); there.Site != "lyon" || at != "lyon copy, nancy" {
		t.Errorf("the job is at %s, the solution at %q", there.Site, at)
	}
	g.must(t, cmdline.ExitOK, "data", "rm", kept, sticky)
	if at := g.stays(t, kept) + g.stays(t, sticky); at != "" {
		t.Errorf("the removed data are still at %s", at)
	}
	g.must(t, cmdline.ExitNotFound, "submit", "lu", "order=147", "matrix=data:"+sticky)
}

func TestEvictedDataAreReportedAsSuch(t *testing.T) {
	g := startGridOf(t, map[string]string{
		"lyon": "nodes: [{count: 1, processors: 2}]\npolicy: {name: cbf}\nlimits: {data: 100KiB, data_owner: 90KiB}\n",
	})
	file := func(seed byte) string { return noiseFile(t, fmt.Sprint("f", seed), 40<<10, seed) }
	first := g.must(t, cmdline.ExitOK, "data", "put", file(1), "--owner", "ada")
	second := g.must(t, cmdline.ExitOK, "data", "put", file(2), "--owner", "bob")
	third := g.must(t, cmdline.ExitOK, "data", "put", file(3), "--owner", "ada", "--mode", "sticky")
	if at := g.stays(t, first) + g.stays(t, second) + g.stays(t, third); at != "lyonlyon" {
		t.Errorf("what stays: %q", at)
	}
	for _, args := range [][]string{{"data", "get", first, "x"}, {"submit", "lu", "matrix=data:" + first}} {
		p, _, stderr := inProcess(g, args...)
		if code := run(p); code != cmdline.ExitNotFound || !strings.Contains(stderr.buf.String(), "room") {
			t.Errorf("%v: exit code %d: %s", args, code, stderr.buf.String())
		}
	}
	g.must(t, cmdline.ExitOK, "data", "put", file(4), "--owner", "bob", "--mode", "sticky") // in place of the second
	p, _, stderr := inProcess(g, "data", "put", file(5), "--owner", "eve", "--site", "lyon")
	if code := run(p); code != cmdline.ExitNoOffer || !strings.Contains(stderr.buf.String(), "drover data rm") {
		t.Errorf("no room: exit code %d: %s", code, stderr.buf.String())
	}
	g.must(t, cmdline.ExitUnavailable, "data", "put", noiseFile(t, "large", 101<<10, 6))
	if shown := g.must(t, cmdline.ExitOK, "site", "lyon"); !strings.Contains(shown,
		"2 handles, 80.0 KiB of 100.0 KiB (90.0 KiB per owner); 2 evicted") {
		t.Errorf("drover site prints\n%s", shown)
	}
}

// newDepots starts an agent and two sites as processes.
func newDepots(t *testing.T) (*grid, *chaos) {
	t.Helper()
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &chaos{t: t, program: program, dir: dir, lines: filepath.Join(dir, "lines"), killed: make(map[string]int)}
	t.Cleanup(c.end)
	agent, gossip := freeport.Address(t), freeport.Address(t)
	c.write("agent",
		fmt.Sprintf("version: 1\nname: agent\nlisten: %s\ngossip: {bind: %s}\nreallocation: {period: off}\n", agent,
			gossip))
	c.agents = append(c.agents, c.victim("agent", "agent", agent))
	for _, name := range []string{"lyon", "nancy"} {
		site := freeport.Address(t)
		c.write(name, fmt.Sprintf("version: 1\nname: %s\nlisten: %s\ngossip: {bind: %s, seeds: [%q]}\ndata_dir: %s\n"+
			"nodes: [{count: 2, processors: 2}]\npolicy: {name: cbf}\ngrace: 1s\nservices:\n  inline:%s",
			name, site, freeport.Address(t), gossip, filepath.Join(dir, name), copying))
		v := c.victim("server", name, site)
		v.dir = filepath.Join(dir, name)
		c.servers = append(c.servers, v)
	}
	c.begin()
	g := &grid{agent: "http://" + agent}
	g.await(t, 2)
	return g, c
}

// arrived returns the number of bytes of some content that a server has.
func arrived(t *testing.T, url, sha string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, url+"/v1/content/"+sha, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return "all"
	}
	return res.Header.Get("Upload-Offset")
}

// Data survive a killed server. A copy resumes after one of its two servers was killed.
func TestDataSurviveKilledServers(t *testing.T) {
	t.Parallel()
	g, c := newDepots(t)
	lyon, nancy := c.servers[0], c.servers[1]
	path := noiseFile(t, "large", 256<<20, 7)
	id := g.must(t, cmdline.ExitOK, "data", "put", path, "--site", "lyon")
	put := decode(t, g.must(t, cmdline.ExitOK, "--json", "data", "put", path, "--site", "lyon", "--id", id),
		&droverv1.Data{})
	c.kill(lyon)
	c.start(lyon)
	g.await(t, 2)
	g.until(t, func() bool { return g.stays(t, id) == "lyon" })

	out := filepath.Join(c.dir, "out")
	submitted := make(chan string)
	go func() {
		p, said, _ := inProcess(g, "--patience", "60s", "call", "copy", "from=data:"+id, "to="+out, "--site", "nancy",
			"--keep", "to")
		submitted <- fmt.Sprintf("exits with %d: %s", run(p), said)
	}()
	for _, end := range []*victim{nancy, lyon} { // of the copy
		var got string
		g.until(t, func() bool {
			got = arrived(t, nancy.url, put.GetContent().GetSha256())
			return got != "" && got != "0"
		})
		t.Logf("killing %s when %s bytes are at nancy", end.name, got)
		c.kill(end)
		if end == nancy {
			c.start(end)
		}
	}
	c.start(lyon)
	if said := <-submitted; said != "exits with 0: " {
		t.Fatal(said)
	}
	same(t, path, out)
	if at := g.stays(t, id); at != "lyon, nancy copy" {
		t.Errorf("the data are at %q", at)
	}
	jobs := decode(t, g.must(t, cmdline.ExitOK, "--json", "queue", "--all"),
		&droverv1.AgentServiceListJobsResponse{}).GetJobs()
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	kept := jobs[0].GetRequest().GetKeep()["to"]
	if at := g.stays(t, kept.GetDataId()); at != "nancy" || kept.GetMode() != droverv1.DataMode_DATA_MODE_PERSISTENT {
		t.Errorf("kept output: %+v at %q", kept, at)
	}
	c.kill(nancy)
	c.start(nancy)
	g.until(t, func() bool { return g.stays(t, kept.GetDataId()) == "nancy" })
	g.must(t, cmdline.ExitOK, "--patience", "60s", "data", "get", kept.GetDataId(), out)
	same(t, path, out)
}
