package runtimes

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Limits bound the size of a History.
type Limits struct {
	Samples int // of each key, the newest
	Keys    int // of each kind
}

// Default suits a site of a few thousand users.
var Default = Limits{Samples: 256, Keys: 4096}

// LimitError is a limit that is out of range.
type LimitError struct {
	Field    string
	Value    int
	Accepted string
}

// Error names the field and the range.
func (e *LimitError) Error() string {
	return fmt.Sprintf("runtimes: %s: %d, accepted: %s", e.Field, e.Value, e.Accepted)
}

// The largest limits.
const (
	MaxSamples = 1 << 16
	MaxKeys    = 1 << 20
)

// Validate reports a limit out of range, as a *LimitError.
func (l Limits) Validate() error {
	if l.Samples < 1 || l.Samples > MaxSamples {
		return &LimitError{"samples", l.Samples, fmt.Sprintf("1..%d", MaxSamples)}
	}
	if l.Keys < 1 || l.Keys > MaxKeys {
		return &LimitError{"keys", l.Keys, fmt.Sprintf("1..%d", MaxKeys)}
	}
	return nil
}

// Level is the kind of key of a distribution.
type Level uint8

// The levels, finest first.
const (
	Both        Level = iota // of the owner with the application
	Owner                    // of all that the owner runs
	Application              // of all owners of the application
	None
)

var levelNames = [...]string{"owner and application", "owner", "application", "nothing"}

// String names a level.
func (l Level) String() string { return levelNames[min(l, None)] }

type key struct{ owner, application string }

type entry struct {
	distribution *Distribution
	used         uint64 // time of the last sample
	by           *int   // the history that owns the distribution
}

// History holds the distributions of all ended jobs. Make one with New.
type History struct {
	limits Limits
	levels [None]map[key]entry
	clock  uint64
	shared bool // the maps belong to a fork, too
	self   *int
}

// New returns a history without samples. The limits must be valid.
func New(l Limits) *History {
	h := &History{limits: l, self: new(int)}
	for i := range h.levels {
		h.levels[i] = map[key]entry{}
	}
	return h
}

// Fork returns an independent copy. Copying is delayed until one of the two changes.
func (h *History) Fork() *History {
	h.shared, h.self = true, new(int)
	c := *h
	c.self = new(int)
	return &c
}

// keys returns the keys of a job by level, and which levels it has: an empty name gives
// no key.
func keys(owner, application string) (all [None]key, have [None]bool) {
	all = [None]key{{owner, application}, {owner, ""}, {"", application}}
	return all, [None]bool{owner != "" && application != "", owner != "", application != ""}
}

// Add adds an ended job.
func (h *History) Add(owner, application string, estimate, runtime batch.Duration) {
	if h.shared {
		for i := range h.levels {
			h.levels[i] = maps.Clone(h.levels[i])
		}
		h.shared = false
	}
	h.clock++
	r := RatioOf(runtime, estimate)
	all, have := keys(owner, application)
	for i := range all {
		if have[i] {
			h.add(h.levels[i], all[i], r)
		}
	}
}

func (h *History) add(m map[key]entry, k key, r Ratio) {
	e, ok := m[k]
	switch {
	case !ok:
		if len(m) >= h.limits.Keys {
			forget(m)
		}
		e = entry{distribution: &Distribution{}, by: h.self}
	case e.by != h.self:
		e.distribution, e.by = e.distribution.clone(), h.self
	}
	e.distribution.add(r, h.limits.Samples)
	e.used = h.clock
	m[k] = e
}

// forget drops the eighth of the keys that is unused for longest. Dropping one at a time
// would scan all keys for each. No two keys of a map have the same time of use.
func forget(m map[key]entry) {
	used := make([]uint64, 0, len(m))
	for _, e := range m {
		used = append(used, e.used)
	}
	slices.Sort(used)
	oldest := used[(len(used)-1)/8]
	maps.DeleteFunc(m, func(_ key, e entry) bool { return e.used <= oldest })
}

// Of returns the finest distribution for a job with at least the given number of samples,
// and its level; nil and None if there is none. It is valid until the next Add.
func (h *History) Of(owner, application string, least int) (*Distribution, Level) {
	all, have := keys(owner, application)
	for i := range all {
		if !have[i] {
			continue
		}
		if e, ok := h.levels[i][all[i]]; ok && e.distribution.N() >= least {
			return e.distribution, Level(i)
		}
	}
	return nil, None
}
