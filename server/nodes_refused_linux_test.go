package server

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/nodetest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestNodesThatAreNotWhatTheConfigurationSays(t *testing.T) {
	a, b, c := nodetest.New(t), nodetest.New(t), nodetest.New(t)
	owner := start(t, onNodesSite(t, "easy", 2*time.Second, b))
	j := owner.submit(t, &droverv1.Request{Service: "where"})
	owner.until(t, j.GetId(), done)
	cfg := onNodesSite(t, "easy", 2*time.Second, a, b, c)
	cfg.Nodes[2].Name = "other"
	cfg.Nodes[0].Processors, cfg.Nodes[0].Memory = 3, 1<<62
	var log journalOf
	cfg.Logger = log.logger()
	s := start(t, cfg)
	j = s.submit(t, &droverv1.Request{Service: "where", Width: 1})
	if j = s.until(t, j.GetId(), done); j.GetNodes()[0] != a.Name {
		t.Errorf("ran on %v", j.GetNodes())
	}
	wide := s.submit(t, &droverv1.Request{Service: "where", Width: 4})
	for what, words := range map[string][]string{
		"another's":  {"node is not there", b.Name, "serves another server of site lyon"},
		"named":      {"node is not there", "other", "this node is called " + c.Name},
		"processors": {"fewer processors", a.Name, "has=2", "configured=3"},
		"memory":     {"less memory", a.Name},
	} {
		soon(t, what+" is logged", func() bool { return log.has(words...) })
	}
	if res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: wide.GetId()}); err != nil || res.GetJob().GetState() != waiting {
		t.Errorf("%v, %v", res, err)
	}
}

func TestAConfigurationThatWouldLoseJobsOnNodesIsRefused(t *testing.T) {
	a, b := nodetest.New(t), nodetest.New(t)
	cfg := onNodesSite(t, "easy", 10*time.Second, a, b)
	cfg.OnStop = LeaveJobs
	s := start(t, cfg)
	holds := book{t.TempDir()}
	j := s.submit(t, holds.request("hold"))
	j = s.until(t, j.GetId(), running)
	holds.await(t, 1)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	without := cfg
	without.Nodes = nil
	for _, n := range cfg.Nodes {
		if n.Name != j.GetNodes()[0] {
			without.Nodes = append(without.Nodes, n)
		}
	}
	shorter := cfg
	shorter.Lease = 2 * time.Second
	here := cfg
	here.Lease, here.Nodes = 0, []Nodes{{Name: "n", Processors: 4}}
	here.Catalogue = configured(t, "").Catalogue
	for want, other := range map[string]Config{
		"may run on node " + j.GetNodes()[0] + ", which is not there any more":           without,
		"1 jobs run on a lease of 10s, and this one is 2s":                               shorter,
		"1 jobs run on nodes with addresses, and the configuration has none: start with": here,
	} {
		if _, err := New(other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s = start(t, cfg)
	holds.end(t)
	if j = s.until(t, j.GetId(), failed); j.GetOutcome().GetExitCode() != 7 || len(holds.runs(t)) != 1 {
		t.Errorf("%v, ran %d times", j.GetOutcome(), len(holds.runs(t)))
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := start(t, without).stop(); err != nil { // nothing runs any more
		t.Error(err)
	}
}
