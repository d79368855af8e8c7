package dfrs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Mapping is how a submitted job is given its nodes.
type Mapping uint8

// The mappings on submission.
const (
	Nothing  Mapping = iota // it waits
	Greedy                  // on the nodes with the lowest load, if they have memory
	GreedyP                 // pauses others if they have not
	GreedyPM                // and moves those that fit elsewhere
	MCB8                    // all jobs anew
)

// Period is what happens periodically.
type Period uint8

// The periodic mappings.
const (
	NoPeriod   Period = iota
	Per               // MCB8
	StretchPer        // MCB8-stretch
)

// Opt is what becomes of the processors that the mapping leaves.
type Opt uint8

// The ways to allocate.
const (
	Min   Opt = iota // the minimum yield, again and again
	Avg              // the average yield; with StretchPer the average of the inverse stretches
	Max              // the maximum stretch, again and again
	Equal            // EquiPartition: equal parts
)

// Limit says whom MCB8 must not move.
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
	Completion bool // jobs are mapped on completion, too: the star
	Period     Period
	Opt        Opt
	Limit      Limit
	Bound      batch.Duration // of Limit, whole seconds
}

// EquiPartition is the baseline of section 3.2 on many nodes: mapped greedily, with
// equal parts for all tasks on a node.
var EquiPartition = Algorithm{Submission: Greedy, Completion: true, Opt: Equal}

// Recommended is what the paper recommends.
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

// packs says whether the algorithm uses MCB8 anywhere.
func (a Algorithm) packs() bool { return a.Submission == MCB8 || a.Period != NoPeriod }

// NameError is a name of no algorithm.
type NameError struct {
	Name     string
	Offset   int    // in bytes: up to there it makes sense
	Accepted string // what could have stood there
}

// Error shows where the name stops making sense.
func (e *NameError) Error() string {
	rest := strconv.Quote(e.Name[e.Offset:])
	if e.Offset == len(e.Name) {
		rest = "its end"
	}
	return fmt.Sprintf("algorithm %q makes no sense from byte %d on, %s, accepted there: %s", e.Name, e.Offset, rest, e.Accepted)
}

// maxBound keeps bounds far from the end of time: some 30 years.
const maxBound = 1_000_000_000

// Parse returns the algorithm of a name. A blank may stand before the star, as the
// paper prints it. Without opt it is opt=min, or opt=max with stretch-per. The error is
// a *NameError.
func Parse(name string) (Algorithm, error) {
	p := nameParser{name: name}
	a, ok := p.parse()
	if !ok {
		return Algorithm{}, &NameError{Name: name, Offset: p.at, Accepted: p.accepted}
	}
	return a, nil
}

// nameParser goes through a name from left to right.
type nameParser struct {
	name     string
	at       int
	accepted string // where it stopped
}

// skip goes by a prefix of what is left, if it is there.
func (p *nameParser) skip(s string) bool {
	if !strings.HasPrefix(p.name[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *nameParser) end() bool { return p.at == len(p.name) }

func (p *nameParser) stop(accepted string) (Algorithm, bool) {
	p.accepted = accepted
	return Algorithm{}, false
}

func (p *nameParser) parse() (Algorithm, bool) {
	if p.name == equiPartition {
		return EquiPartition, true
	}
	var a Algorithm
	for m := MCB8; m > Nothing && a.Submission == Nothing; m-- { // GreedyPM before GreedyP before Greedy
		if p.skip(mappingNames[m]) {
			a.Submission = m
		}
	}
	switch {
	case a.Submission != Nothing:
		a.Completion = p.skip(" *") || p.skip("*")
	case !strings.HasPrefix(p.name, "/per") && !strings.HasPrefix(p.name, "/stretch-per"):
		return p.stop("Greedy, GreedyP, GreedyPM, MCB8, /per, /stretch-per, " + equiPartition)
	}
	from := p.at
	switch {
	case p.word(periodNames[Per]):
		a.Period = Per
	case a.Submission == Nothing && p.word(periodNames[StretchPer]):
		a.Period, a.Opt = StretchPer, Max
	case !a.Completion:
		p.at = from
		if a.Submission == Nothing {
			return p.stop("/per, /stretch-per, each up to its end or the next /")
		}
		return p.stop("*, /per")
	}
	if p.skip("/opt=") {
		if accepted := p.opt(&a); accepted != "" {
			return p.stop(accepted)
		}
	}
	if p.end() {
		return a, true
	}
	if !a.packs() {
		return p.stop("/opt=, or the end: minft and minvt bound what MCB8 may move, and it is not used")
	}
	return p.limit(a)
}

// word goes by a part that ends with the name or where the next one begins.
func (p *nameParser) word(s string) bool {
	from := p.at
	if p.skip(s) && (p.end() || p.name[p.at] == '/') {
		return true
	}
	p.at = from
	return false
}

// opt reads what stands behind opt=, and returns what would have been accepted.
func (p *nameParser) opt(a *Algorithm) (accepted string) {
	second := Min
	if a.Period == StretchPer {
		second = Max
	}
	for _, o := range []Opt{Avg, second} {
		if p.word(optNames[o]) {
			a.Opt = o
			return ""
		}
	}
	if a.Period == StretchPer {
		return "avg, max: stretch-per has stretches to optimize, no yields"
	}
	return "avg, min: max is for /stretch-per"
}

// limit reads minft or minvt.
func (p *nameParser) limit(a Algorithm) (Algorithm, bool) {
	switch {
	case p.skip("/minft="):
		a.Limit = MinFT
	case p.skip("/minvt="):
		a.Limit = MinVT
	default:
		return p.stop("/minft=, /minvt=, or the end")
	}
	digits := len(p.name) - p.at - len(strings.TrimLeft(p.name[p.at:], "0123456789"))
	bound, err := strconv.Atoi(p.name[p.at : p.at+digits])
	if err != nil || bound < 1 || bound > maxBound || p.name[p.at] == '0' {
		return p.stop(fmt.Sprintf("whole seconds, 1..%d", maxBound))
	}
	a.Bound = batch.Duration(bound) * batch.Second
	p.at += digits
	if !p.end() {
		return p.stop("the end")
	}
	return a, true
}

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
