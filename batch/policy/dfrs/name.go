package dfrs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// NameError is an invalid name of an algorithm.
type NameError struct {
	Name     string
	Offset   int    // bytes up to which the name is valid
	Accepted string // what is accepted there
}

// Error shows where the name becomes invalid.
func (e *NameError) Error() string {
	return fmt.Sprintf("algorithm %q is invalid from byte %d on, %s, accepted there: %s", e.Name, e.Offset, e.rest(),
		e.Accepted)
}

// rest returns the invalid part.
func (e *NameError) rest() string {
	if e.Offset == len(e.Name) {
		return "its end"
	}
	return strconv.Quote(e.Name[e.Offset:])
}

// maxBound is about 30 years, in seconds.
const maxBound = 1_000_000_000

// Parse returns the algorithm of a name. A blank is allowed before the star, as the paper
// prints it. The default is opt=min, or opt=max with stretch-per. The error is a
// *NameError.
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

// skip consumes a prefix, if it is there.
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
	opted := p.skip("/opt=")
	if opted {
		if accepted := p.opt(&a); accepted != "" {
			return p.stop(accepted)
		}
	}
	if p.end() {
		return a, true
	}
	if !a.packs() || !p.limit(&a) {
		return p.stop(a.continued(opted))
	}
	return p.bound(a)
}

// continued returns what may follow the parsed part of a name.
func (a Algorithm) continued(opted bool) string {
	accepted := "the end"
	if a.packs() {
		accepted = "/minft=, /minvt=, " + accepted
	} else {
		accepted += " (minft and minvt bound what MCB8 may move, and it is not used)"
	}
	if !opted {
		accepted = "/opt=, " + accepted
		if a.Period == NoPeriod {
			accepted = "/per, " + accepted
		}
	}
	return accepted
}

// word consumes a part that ends with the name or at the next slash.
func (p *nameParser) word(s string) bool {
	from := p.at
	if p.skip(s) && (p.end() || p.name[p.at] == '/') {
		return true
	}
	p.at = from
	return false
}

// opt parses the value of opt=. It returns the accepted values on error.
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

// limit parses minft or minvt, if one of them is there.
func (p *nameParser) limit(a *Algorithm) bool {
	switch {
	case p.skip("/minft="):
		a.Limit = MinFT
	case p.skip("/minvt="):
		a.Limit = MinVT
	}
	return a.Limit != NoLimit
}

// bound parses the seconds of a limit, which is the last part.
func (p *nameParser) bound(a Algorithm) (Algorithm, bool) {
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
