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

// ParseAlgorithm reads an algorithm's name. Underscores and hyphens may be left out, or
// stand elsewhere (CSip, CS_i_p), and case does not matter.
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

// Convergent says whether it is one of the four versions.
func (a Algorithm) Convergent() bool { return a >= CSip && a <= CSninp }

// Incremental says whether it goes on from the last plan.
func (a Algorithm) Incremental() bool { return a == CSip || a == CSinp }

// Preempts says whether jobs that run may have to make place.
func (a Algorithm) Preempts() bool { return a == CSip || a == CSnip || a == EDF }

func accepted() string {
	list := make([]string, 0, len(names))
	for _, a := range All() {
		list = append(list, a.String())
	}
	return strings.Join(list, ", ")
}
