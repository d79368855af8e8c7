package mapping

import (
	"cmp"
	"strings"
)

// State is where a job is in its life, as a site's server says.
type State uint8

// The states. Unsaid is one that this agent does not know.
const (
	Unsaid State = iota
	Waiting
	Starting
	Running
	Done
	Failed
	Killed
	Cancelling
	Cancelled
	Held
	Moving
	Yielding
	Gone
	Incoming
)

var stateNames = [...]string{
	"unsaid", "waiting", "starting", "running", "done", "failed", "killed",
	"cancelling", "cancelled", "held", "moving", "yielding", "gone", "incoming",
}

// String returns the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Unsaid]
}

// Ended says whether nothing becomes of the job any more, here or elsewhere.
func (s State) Ended() bool { return s == Done || s == Failed || s == Killed || s == Cancelled }

// Claim is what one site says, or has last said, about a job.
type Claim struct {
	Site   string
	State  State
	Epoch  uint32
	To     string // of Gone: the site it went to
	Silent bool   // the site does not answer now: this is what is remembered
}

// rank orders what two sites may say under one epoch e, which belongs to one
// move from S to T:
//
//	S  moving(e) ── yielding(e) ──┬─▶ gone(e)                 aborted: waiting(e) ...
//	T       incoming(e) ──────────┴────────────▶ waiting(e) ...
//
// Until S has committed, the job is S's, so T's incoming is below; once it has,
// the job is T's, so gone is below incoming. Whoever has it without a move under
// way is its authority and above all: S after an abort, T after the commit.
func (c *Claim) rank() int {
	switch c.State {
	case Gone:
		return 0
	case Incoming:
		return 1
	case Moving, Yielding:
		return 2
	}
	return 3
}

// CompareClaims orders claims about one job: the greatest one says where it is.
// Between equals, which cannot both be true, it prefers a site that answers,
// and then the name that comes first.
func CompareClaims(a, b Claim) int {
	answers := func(c *Claim) int {
		if c.Silent {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(a.Epoch, b.Epoch),
		cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(answers(&a), answers(&b)),
		strings.Compare(b.Site, a.Site),
	)
}

// Locate returns the index of the greatest claim and the site where the job is
// by it: the one that claims it or, when the job has gone to a site that is
// silent, that one, as nobody can say more about it. It returns -1 without
// claims.
func Locate(claims []Claim, silent func(site string) bool) (best int, site string) {
	if len(claims) == 0 {
		return -1, ""
	}
	for i := range claims {
		if CompareClaims(claims[i], claims[best]) > 0 {
			best = i
		}
	}
	c := &claims[best]
	if c.State == Gone && c.To != "" && silent(c.To) {
		return best, c.To
	}
	return best, c.Site
}
