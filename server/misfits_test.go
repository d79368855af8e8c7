package server

import (
	"os"
	"strings"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestAServerRefusesAConfigurationUnderWhichWaitingJobsCouldNeverRun(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, first.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	waits := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"it takes 4 processors, and the machine has 2": func(c *Config) { c.Nodes = []Nodes{{Count: 1, Processors: 2}} },
		`unknown service "block"`: func(c *Config) {
			other, err := ParseConfig([]byte(`version: 1
name: lyon
nodes: [{processors: 4}]
services: {inline: [{name: other, doc: Does nothing., command: ["true"], model: {fixed: {width: 1, time: 1s}}}]}
`), "")
			if err != nil {
				t.Fatal(err)
			}
			c.Catalogue = other.Catalogue
		},
	} {
		changed := cfg
		change(&changed)
		s, err := New(changed)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), waits) {
			t.Errorf("%s: %v", name, err)
		}
	}
	start(t, cfg).until(t, waits, droverv1.JobState_JOB_STATE_RUNNING)
}

func TestAServerDoesNotTakeFilesOfJobsForNobodysWhenItsStoreIsMissing(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	id := s.submit(t, &droverv1.Request{Service: "print"}).GetId()
	s.until(t, id, droverv1.JobState_JOB_STATE_DONE)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	aside := s.data.DB() + ".aside"
	if err := os.Rename(s.data.DB(), aside); err != nil {
		t.Fatal(err)
	}
	if s, err := New(cfg); err == nil || !strings.Contains(err.Error(), "files of 1 jobs and no drover.db") {
		t.Errorf("%v", err)
		if s != nil {
			_ = s.Close()
		}
	}
	if err := os.Rename(aside, s.data.DB()); err != nil {
		t.Fatal(err)
	}
	start(t, cfg).until(t, id, droverv1.JobState_JOB_STATE_DONE)
}
