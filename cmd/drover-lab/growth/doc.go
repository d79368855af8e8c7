// Package growth measures how the time of a round of reallocation grows with the
// number of jobs that wait and of sites where they do.
//
//	full sites under CBF, most jobs at every third
//	▇▇▇▇▇▇▇▇  ▇▇  ▇▇  ▇▇▇▇▇▇▇▇  ▇▇  ▇▇  ...
//
// Sites have 64 to 319 processors and are full of running jobs; those that wait are
// rigid, of 1 to 64 processors and 1 minute to 10 hours. A Grid is made from a seed,
// and plays one round. It answers all that is asked at once of one site in one go.
//
// The time of the heuristic itself is what a round takes less what its driver takes
// for the steps. Rounds have no clock; the driver measures:
//
//	for step := range round.Steps() {
//		before := clock()
//		... // answer, or carry out
//		steps += clock() - before
//	}
package growth
