package convergent

import "strings"

// Algorithm is one of the four versions of convergent scheduling, or a peer.
type Algorithm uint8

// The algorithms of the paper's section 6.
const (
	CSip Algorithm = iota + 1
	CSinp
	CSnip
	CSninp
	BFeasy
	BFrm
	BFunrm
	EDF
)

var names = [...]string{
	CSip: "CS_ip", CSinp: "CS_inp", CSnip: "CS_nip", CSninp: "CS_ninp",
	BFeasy: "BF-easy", BFrm: "BF-rm", BFunrm: "BF-unrm", EDF: "EDF",
}

// All returns the algorithms, the four versions first.
func All() []Algorithm { return []Algorithm{CSip, CSinp, CSnip, CSninp, BFeasy, BFrm, BFunrm, EDF} }

// String returns the algorithm's name as the paper writes it.
func (a Algorithm) String() string {
	if int(a) < len(names) && names[a] != "" {
		return names[a]
	}
	return "unspecified"
}

// ParseAlgorithm parses an algorithm's name. It ignores case, underscores and hyphens:
// CSip and CS_i_p are CS_ip.
func ParseAlgorithm(name string) (Algorithm, bool) {
	for _, a := range All() {
		if plain(a.String()) == plain(name) {
			return a, true
		}
	}
	return 0, false
}

func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// Convergent reports whether it is one of the four versions.
func (a Algorithm) Convergent() bool { return a >= CSip && a <= CSninp }

// Incremental reports whether it starts from the last plan.
func (a Algorithm) Incremental() bool { return a == CSip || a == CSinp }

// Preempts reports whether it may preempt running jobs.
func (a Algorithm) Preempts() bool { return a == CSip || a == CSnip || a == EDF }

func accepted() string {
	list := make([]string, 0, len(names))
	for _, a := range All() {
		list = append(list, a.String())
	}
	return strings.Join(list, ", ")
}
