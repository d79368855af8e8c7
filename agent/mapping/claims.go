package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// State is a job's state, as reported by a site's server.
type State uint8

// The states. Unsaid is a state that this agent does not know.
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

// Ended reports whether the state is final for the job, not just for its site.
func (s State) Ended() bool { return s == Done || s == Failed || s == Killed || s == Cancelled }

// Claim is what one site reports, or last reported, about a job.
type Claim struct {
	Site   string
	State  State
	Epoch  uint32
	To     string // Gone only: the site that it went to
	Silent bool   // the site does not answer: the claim is from memory
}

// rank orders the claims of two sites under one epoch e, which belongs to one move from S
// to T:
//
//	S  moving(e) ── yielding(e) ──┬─▶ gone(e)                 aborted: waiting(e) ...
//	T       incoming(e) ──────────┴────────────▶ waiting(e) ...
//
// Until S has committed, the job belongs to S, so T's incoming ranks below. After the
// commit it belongs to T, so gone ranks below incoming. A site that has the job without a
// move under way ranks highest: S after an abort, T after the commit.
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

// CompareClaims orders claims about one job: the greatest is right. Between equal claims,
// which cannot both be right, it prefers a site that answers, then the first name.
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

// Locate returns the index of the greatest claim, and the site where the job is: the
// claiming site or, if the job has gone to a silent site, that one. It returns -1 without
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

// MoveReport is what one site reports about one move. The job and its epoch identify the move:
// only one site assigns an epoch.
type MoveReport struct {
	Reporter string
	Job      string
	Epoch    uint32
	From     string // the source of the move
	Ordered  int64  // microseconds since 1970 on the reporting site's clock
	Settled  bool   // moved or aborted
	Realized bool   // whether its gain is known
	Index    int32  // the driver's
}

// worth orders the two reports about one move: one with the gain is best, then one with
// the end, then that of the source.
func (t *MoveReport) worth() int {
	switch {
	case t.Realized:
		return 3
	case t.Settled:
		return 2
	case t.Reporter == t.From:
		return 1
	}
	return 0
}

// MovePosition is a move's position in the list of all moves, latest first. It does not
// change during a move, so that pages fit together: Ordered is the source's time, or the
// earliest one if the source is silent.
type MovePosition struct {
	Ordered int64
	Job     string
	Epoch   uint32
}

// Compare returns a negative number if p, the later move, comes before q.
func (p MovePosition) Compare(q MovePosition) int {
	return cmp.Or(
		cmp.Compare(q.Ordered, p.Ordered),
		strings.Compare(p.Job, q.Job),
		cmp.Compare(q.Epoch, p.Epoch),
	)
}

// MergedMove is one move: the best report about it, and its position.
type MergedMove struct {
	MoveReport
	Place MovePosition
}

// MergeMoves returns each move once, latest first. It sorts reports.
func MergeMoves(reports []MoveReport) []MergedMove {
	slices.SortFunc(reports, func(a, b MoveReport) int {
		source := func(t *MoveReport) int {
			if t.Reporter == t.From {
				return 0
			}
			return 1
		}
		return cmp.Or(
			strings.Compare(a.Job, b.Job),
			cmp.Compare(a.Epoch, b.Epoch),
			cmp.Compare(source(&a), source(&b)), // the source first: its Ordered counts
			cmp.Compare(a.Ordered, b.Ordered),
			strings.Compare(a.Reporter, b.Reporter),
		)
	})
	var out []MergedMove
	for _, t := range reports {
		last := len(out) - 1
		if last >= 0 && out[last].Job == t.Job && out[last].Epoch == t.Epoch {
			if t.worth() > out[last].worth() {
				out[last].MoveReport = t
			}
			continue
		}
		out = append(out, MergedMove{
			MoveReport: t, Place: MovePosition{Ordered: t.Ordered, Job: t.Job, Epoch: t.Epoch},
		})
	}
	slices.SortFunc(out, func(a, b MergedMove) int { return a.Place.Compare(b.Place) })
	return out
}
