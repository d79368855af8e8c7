package fractional

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Periodic says whether an algorithm does something periodically.
func Periodic(algorithm string) bool {
	name, _, _ := strings.Cut(algorithm, " ")
	return strings.Contains(name, "/per") || strings.Contains(name, "/stretch-per")
}

// settingsOf returns the settings that a name with what stands behind it says.
func settingsOf(algorithm string) (batch.Settings, error) {
	words := strings.Fields(algorithm)
	if len(words) == 0 {
		return nil, fmt.Errorf("algorithm: %q, accepted: FCFS, EASY, or one of the policy dfrs", algorithm)
	}
	s := batch.Settings{"algorithm": words[0]}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if _, twice := s[key]; !ok || twice || key == "period" {
			return nil, fmt.Errorf("algorithm %s: %q, accepted: settings of the policy but its period, each once, KEY=VALUE", words[0], w)
		}
		s[key] = value
	}
	return s, nil
}
