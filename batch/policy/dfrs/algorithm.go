package dfrs

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Mapping is how a submitted job gets its nodes.
type Mapping uint8

// The mappings on submission.
const (
	Nothing  Mapping = iota // the job waits
	Greedy                  // nodes with the lowest load that have memory
	GreedyP                 // as Greedy, pausing other jobs if necessary
	GreedyPM                // as GreedyP, moving those that fit elsewhere
	MCB8                    // all jobs are mapped again
)

// Period is the periodic mapping.
type Period uint8

// The periodic mappings.
const (
	NoPeriod   Period = iota
	Per               // MCB8
	StretchPer        // MCB8-stretch
)

// Opt is how capacity is allocated beyond the minimum yield.
type Opt uint8

// The ways to allocate.
const (
	Min   Opt = iota // maximize the minimum yield, repeatedly
	Avg              // maximize the average yield; with StretchPer the average inverse stretch
	Max              // minimize the maximum stretch, repeatedly
	Equal            // EquiPartition: equal parts
)

// Limit says which jobs MCB8 must not move.
type Limit uint8

// The limits.
const (
	NoLimit Limit = iota
	MinFT         // jobs with less flow time than Bound
	MinVT         // jobs with less virtual time than Bound
)

// Algorithm is one of the paper's algorithms (section 4.5). Algorithms are
// comparable, and the zero one is none.
type Algorithm struct {
	Submission Mapping
	Completion bool // jobs are also mapped at completions: the star
	Period     Period
	Opt        Opt
	Limit      Limit
	Bound      batch.Duration // of Limit, whole seconds
}

// EquiPartition is the baseline of section 3.2 on many nodes: mapped greedily, with
// equal parts for all tasks on a node.
var EquiPartition = Algorithm{Submission: Greedy, Completion: true, Opt: Equal}

// Recommended is the paper's recommendation.
var Recommended = Algorithm{
	Submission: GreedyPM, Completion: true, Period: Per, Limit: MinVT, Bound: 600 * batch.Second,
}

const equiPartition = "EquiPartition"

var (
	mappingNames = [...]string{Nothing: "", Greedy: "Greedy", GreedyP: "GreedyP", GreedyPM: "GreedyPM", MCB8: "MCB8"}
	periodNames  = [...]string{NoPeriod: "", Per: "/per", StretchPer: "/stretch-per"}
	optNames     = [...]string{Min: "min", Avg: "avg", Max: "max", Equal: "equal"}
	limitNames   = [...]string{NoLimit: "", MinFT: "minft", MinVT: "minvt"}
)

// String returns the algorithm's name as the paper writes it, without the blank before
// the star: GreedyPM*/per/opt=min/minvt=600.
func (a Algorithm) String() string {
	if a == EquiPartition {
		return equiPartition
	}
	var s strings.Builder
	s.WriteString(mappingNames[a.Submission])
	if a.Completion {
		s.WriteByte('*')
	}
	s.WriteString(periodNames[a.Period])
	s.WriteString("/opt=" + optNames[a.Opt])
	if a.Limit != NoLimit {
		fmt.Fprintf(&s, "/%s=%d", limitNames[a.Limit], a.Bound/batch.Second)
	}
	return s.String()
}

// packs reports whether the algorithm uses MCB8 anywhere.
func (a Algorithm) packs() bool { return a.Submission == MCB8 || a.Period != NoPeriod }

// All returns the 116 algorithms of the paper's table 5, in its order.
func All() []Algorithm {
	var rows []Algorithm
	for m := Greedy; m <= MCB8; m++ {
		rows = append(rows, Algorithm{Submission: m, Completion: true},
			Algorithm{Submission: m, Period: Per}, Algorithm{Submission: m, Completion: true, Period: Per})
	}
	rows = append(rows, Algorithm{Period: Per}, Algorithm{Period: StretchPer, Opt: Max})
	var all []Algorithm
	for _, r := range rows {
		for _, o := range []Opt{Avg, r.Opt} {
			r.Opt = o
			all = append(all, r)
			if !r.packs() {
				continue
			}
			for _, l := range []Limit{MinFT, MinVT} {
				for _, b := range []batch.Duration{300, 600} {
					r.Limit, r.Bound = l, b*batch.Second
					all = append(all, r)
				}
			}
			r.Limit, r.Bound = NoLimit, 0
		}
	}
	return all
}
