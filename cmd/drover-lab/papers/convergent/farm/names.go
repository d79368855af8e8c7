package farm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// Policy is the name of the policy that has all algorithms.
const Policy = "convergent"

// Algorithms are the paper's, in its order.
var Algorithms = []string{"CS_ip", "CS_inp", "CS_nip", "CS_ninp", "BF-easy", "BF-rm", "BF-unrm", "EDF"}

// Beyond are settings that the paper does not have, or may have meant:
//
//   - preset=deadlines: all that counts is that few jobs are late;
//   - avoid: machines that would be late do not attract, as the paper's words have it but
//     not its formula;
//   - EDF in a stronger form, and in the orders that its description may mean.
//
// Peers that have their priorities from the same heuristics have the settings, too.
var Beyond = []string{
	"CS_ip preset=deadlines", "CS_inp preset=deadlines", "CS_nip preset=deadlines", "CS_ninp preset=deadlines", "BF-rm preset=deadlines",
	"CS_ip avoid=true", "CS_inp avoid=true", "CS_nip avoid=true", "CS_ninp avoid=true", "BF-rm avoid=true", "BF-unrm avoid=true",
	"EDF anew=true", "EDF order=queued", "EDF order=latest",
}

// Few are those algorithms that what the paper leaves open is tried with.
var Few = []string{"CS_ip", "CS_inp", "BF-rm", "EDF", "CS_ip preset=deadlines"}

// The sets of cases.
const (
	Loads      = "loads"     // figures 3 to 7: each algorithm at each inter-arrival time
	Knapsacks  = "knapsack"  // table 1: the greedy beside branch and bound
	Growth     = "growth"    // figure 8: what a plan takes by the number of jobs
	Deadlines  = "deadline"  // the readings of "Deadline [25-150]"
	Bandwidths = "bandwidth" // moving input takes time
)

// Sets are all of them.
var Sets = []string{Loads, Knapsacks, Growth, Deadlines, Bandwidths}

// The paper's values.
var (
	Arrivals = []int{4, 6, 8, 10, 12, 16, 20}
	Ratios   = []Range{{40, 45}, {45, 50}, {50, 55}, {55, 60}} // of Knapsacks
)

// Seeds is how often each run is repeated, with other machines and jobs.
const Seeds = 20

// NameError is a set, an algorithm or a reading that is none.
type NameError struct {
	Kind, Name string
	Accepted   []string
}

// Error lists those that are.
func (e *NameError) Error() string {
	return fmt.Sprintf("%s: %q, accepted: %s", e.Kind, e.Name, strings.Join(e.Accepted, ", "))
}

func names[S ~string](all []S) []string {
	var s []string
	for _, name := range all {
		s = append(s, string(name))
	}
	return s
}

// settingsOf returns the policy's settings that an algorithm's name, with what stands
// behind it, says.
func settingsOf(algorithm string) (batch.Settings, error) {
	words := strings.Fields(algorithm)
	if len(words) == 0 || !slices.Contains(Algorithms, words[0]) {
		return nil, &NameError{"algorithm", algorithm, Algorithms}
	}
	s := batch.Settings{"algorithm": words[0]}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if _, twice := s[key]; !ok || twice {
			return nil, fmt.Errorf("algorithm %s: %q, accepted: settings of the policy, each once, KEY=VALUE", words[0], w)
		}
		s[key] = value
	}
	return s, nil
}

// check says what is wrong with an algorithm: what its name or the policy says.
func check(algorithm string) error {
	s, err := settingsOf(algorithm)
	if err != nil {
		return err
	}
	p := batch.Platform{Nodes: []batch.Node{{Name: NodeName(0), Processors: 1, Score: 1}}}
	_, err = policy.New(Policy, p, s)
	return err
}
