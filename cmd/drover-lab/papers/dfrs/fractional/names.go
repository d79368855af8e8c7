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

// Periodic reports whether an algorithm has periodic passes.
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
			return nil,
				fmt.Errorf("algorithm %s: %q, accepted: settings of the policy but its period, each once, KEY=VALUE",
					words[0], w)
		}
		s[key] = value
	}
	return s, nil
}

// The paper's settings.
const (
	// Period is the period of the paper's tables, twice the penalty.
	Period = 600 * batch.Second
	// Recommended is the period that the paper recommends in the end, ten times the
	// penalty, and the policy's default.
	Recommended = 3000 * batch.Second
	// Penalty is the penalty of all its experiments.
	Penalty = 300 * batch.Second
)

// Default is the algorithm that the paper recommends, and the policy's default.
const Default = "GreedyPM*/per/opt=min/minvt=600"

// EquiPartition gives all jobs equal shares. It is a baseline of section 3.2, for which
// the paper has no figures.
const EquiPartition = "EquiPartition"

// Table2 are the algorithms of table 2, and of figure 1, in its order.
var Table2 = []string{
	FCFS, EASY,
	"Greedy*/opt=min", "GreedyP*/opt=min", "GreedyPM*/opt=min",
	"Greedy/per/opt=min", "GreedyP/per/opt=min", "GreedyPM/per/opt=min",
	"Greedy*/per/opt=min", "GreedyP*/per/opt=min", "GreedyPM*/per/opt=min",
	"GreedyP/per/opt=min/minvt=600", "GreedyPM/per/opt=min/minvt=600",
	"GreedyP*/per/opt=min/minvt=600", Default,
	"MCB8*/opt=min/minvt=600", "MCB8/per/opt=min/minvt=600", "MCB8*/per/opt=min/minvt=600",
	"/per/opt=min/minvt=600", "/stretch-per/opt=max/minvt=600",
}

// Table3 are the algorithms of table 3, in its order; Table3Load the least load of the
// workloads that it is about.
var Table3 = []string{
	EASY, FCFS,
	"Greedy*/opt=min", "GreedyP*/opt=min", "GreedyPM*/opt=min",
	"Greedy/per/opt=min", "GreedyP/per/opt=min", "GreedyPM/per/opt=min",
	"Greedy*/per/opt=min", "GreedyP*/per/opt=min", "GreedyPM*/per/opt=min",
	"Greedy*/per/opt=min/minvt=600", "GreedyP*/per/opt=min/minvt=600", Default,
	"MCB8*/opt=min", "MCB8*/per/opt=min", "MCB8*/per/opt=min/minvt=600",
	"/per/opt=min", "/stretch-per/opt=max",
}

// Table3Load is in tenths.
const Table3Load = 7

// Table4 are the algorithms of table 4.
var Table4 = []string{EASY, "GreedyP*/per/opt=min/minvt=600", Default}

// Periods are those of figures 3 and 4, which are about Default: from twice the
// penalty to forty times.
var Periods = []batch.Duration{
	600 * batch.Second, 900 * batch.Second, 1200 * batch.Second, 1800 * batch.Second, Recommended,
	3600 * batch.Second, 6000 * batch.Second, 9000 * batch.Second, 12000 * batch.Second,
}

// Beyond are settings of Default that the paper does not have: long-running jobs get
// less, every tenth job has priority, renaming nodes saves migrations.
var Beyond = []string{
	Default + " decay=1h", Default + " decay=4h", Default + " priorities=" + Favoured + ":4",
	Default + " match=true", Default + " decay=1h match=true",
}
