package reallocation

import (
	_ "embed"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

//go:embed why.yaml
var whyText []byte

// reasons returns why claims differ, by their IDs.
func reasons(text []byte) (map[string]string, error) {
	why := map[string]string{}
	if err := papers.ReadReasons("why.yaml", text, &why); err != nil {
		return nil, err
	}
	return why, papers.CheckReasons("why.yaml", why, papers.IDs(Claims())...)
}
