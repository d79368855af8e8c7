package dynp_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/batchtest"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

// set returns a factory of dynP with the given settings.
func set(s batch.Settings) batch.Factory {
	return func(p batch.Platform, _ batch.Settings) (batch.Policy, error) { return dynp.New(p, s) }
}

// The name of a script starts with the name of its settings.
func TestScripts(t *testing.T) {
	for name, s := range map[string]batch.Settings{
		"fcfs": {"policies": "FCFS"},
		"sjf":  {"policies": "SJF"},
		"ljf":  {"policies": "LJF"},
		"saf":  {"policies": "SAF"},
		"wjf":  {"policies": "WJF"},
		"art":  {"metric": "ART"},
		"half": {"metric": "ART", "tuning": "half"},
		"span": {"metric": "makespan"},
		"once": {"metric": "ART", "pause": "1h"},
	} {
		batchtest.Run(t, "testdata/"+name+"-*.txt", set(s), nil)
	}
}
