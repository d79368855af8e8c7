package convergent

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
)

// Presets are names for settings that go together. Those that are given beside one hold.
const (
	// PresetPaper is the paper's: its constants, and nothing beyond it.
	PresetPaper = "paper"
	// PresetDeadlines is for as few late jobs as possible. A deadline counts from the
	// beginning on (k), among jobs that can make theirs the short ones go first (WM), and
	// no job goes first because it is old (AA). Jobs move more easily (Δ), machines that
	// would be late do not attract, and an incremental plan is the exact one. Jobs without
	// a deadline pay for it.
	PresetDeadlines = "deadlines"
)

// preset takes in the preset, before all other settings.
func (s *settings) preset(given batch.Settings) []error {
	name, ok := given["preset"]
	if !ok || name == PresetPaper {
		return nil
	}
	if name != PresetDeadlines {
		if name == "" {
			name = "(empty)"
		}
		return []error{&batch.SettingError{Policy: "convergent", Key: "preset", Value: name, Accepted: PresetPaper + ", " + PresetDeadlines}}
	}
	s.deadlines = true
	s.constants.DeadlineK = 100 * heuristic.One
	s.constants.Wait = 40 * heuristic.One
	s.constants.Aging = 0
	s.constants.Overhead = 2 * heuristic.One
	s.avoid = true
	return nil
}
