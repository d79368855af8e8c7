package convergent

import (
	_ "embed"
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

//go:embed why.yaml
var whyText []byte

// convergentReasons reads why claims differ, by the claim's ID: nobody can compute it.
func readReasons(text []byte) (map[string]string, error) {
	why := struct {
		Claims map[string]string `yaml:"claims"`
	}{}
	if err := papers.ReadReasons("convergent/why.yaml", text, &why); err != nil {
		return nil, err
	}
	ids := papers.IDs(slices.Concat(Claims(), meantClaims, targets))
	return why.Claims, papers.CheckReasons("convergent/why.yaml", why.Claims, ids...)
}
