package fractional

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// Table5 are the 116 algorithms of table 5, in its order. FCFS and EASY stand before
// them there.
func Table5() []string {
	var names []string
	for _, a := range dfrs.All() {
		names = append(names, a.String())
	}
	return names
}

// Periodic says whether an algorithm does something periodically.
func Periodic(algorithm string) bool {
	name, _, _ := strings.Cut(algorithm, " ")
	a, err := dfrs.Parse(name)
	return err == nil && a.Period != dfrs.NoPeriod
}

// Canonical returns an algorithm's name as rows have it: as the policy writes it, with
// the settings behind it in order. The error is the policy's, a *dfrs.NameError where
// it is about the name.
func Canonical(algorithm string) (string, error) {
	if _, whole := batchPolicies[algorithm]; whole {
		return algorithm, nil
	}
	settings, err := settingsOf(strings.ReplaceAll(algorithm, " *", "*"))
	if err != nil {
		return "", err
	}
	a, err := dfrs.Parse(settings["algorithm"])
	if err != nil {
		return "", err
	}
	settings["algorithm"] = a.String()
	if _, err := dfrs.New(batch.Processors(1), settings); err != nil {
		return "", err
	}
	delete(settings, "algorithm")
	name := a.String()
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		name += " " + key + "=" + settings[key]
	}
	return name, nil
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
