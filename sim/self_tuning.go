package sim

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

// SelfTuning is what a policy did that tunes itself.
type SelfTuning struct {
	Steps    int `json:"self_tuning_steps"`
	Switches int `json:"policy_switches"` // steps after which another policy was active
	// Policies are in the order of the setting.
	Policies []PolicyShare `json:"policies"`
	// Cases are what was found in the steps.
	Cases []TuningCase `json:"self_tuning_cases"`
}

// PolicyShare is the part of one of the policies among which the active one is
// chosen.
type PolicyShare struct {
	Name     string  `json:"name"`
	Switches int     `json:"switches"` // to it
	Started  int     `json:"started"`  // jobs, while it was active
	Share    float64 `json:"share"`    // of all jobs that were started
}

// TuningCase is how often, while a policy was active, these were found to be best.
type TuningCase struct {
	Active string   `json:"active"`
	Best   []string `json:"best"`
	Steps  int      `json:"steps"`
}

// selfTuner is a policy that tells how it has tuned itself.
type selfTuner interface{ Tuning() dynp.Tuning }

// selfTuning returns what a policy did, nil if it is not one that tunes itself.
func selfTuning(p batch.Policy) *SelfTuning {
	tuner, ok := p.(selfTuner)
	if !ok {
		return nil
	}
	t := tuner.Tuning()
	s := &SelfTuning{Steps: t.Steps, Switches: t.Switches, Cases: []TuningCase{}}
	started := 0
	for _, c := range t.Policies {
		started += c.Started
	}
	for _, c := range t.Policies {
		share := PolicyShare{Name: c.Policy, Switches: c.Switches, Started: c.Started}
		if started > 0 {
			share.Share = float64(c.Started) / float64(started)
		}
		s.Policies = append(s.Policies, share)
	}
	for _, c := range t.Cases {
		s.Cases = append(s.Cases, TuningCase(c))
	}
	return s
}
