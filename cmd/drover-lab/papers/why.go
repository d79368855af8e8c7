package papers

import (
	_ "embed"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed why.yaml
var whyText []byte

// reasons returns why claims differ, by their IDs.
func reasons(text []byte) (map[string]string, error) {
	why := map[string]string{}
	if err := yaml.Unmarshal(text, &why); err != nil {
		return nil, fmt.Errorf("why.yaml: %w", err)
	}
	known := map[string]bool{}
	for _, c := range Claims() {
		known[c.ID] = true
	}
	for id := range why {
		if !known[id] {
			return nil, fmt.Errorf("why.yaml: %q is the ID of no claim", id)
		}
	}
	return why, nil
}
