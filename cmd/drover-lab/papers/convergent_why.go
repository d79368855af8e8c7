package papers

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed convergent/why.yaml
var convergentWhyText []byte

// convergentReasons reads why claims differ, by the claim's ID: nobody can compute it.
func convergentReasons(text []byte) (map[string]string, error) {
	why := struct {
		Claims map[string]string `yaml:"claims"`
	}{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&why); err != nil {
		return nil, fmt.Errorf("convergent/why.yaml: %w", err)
	}
	known := map[string]bool{}
	for _, c := range slices.Concat(ConvergentClaims(), convergentMeant, convergentTargets) {
		known[c.ID] = true
	}
	for id := range why.Claims {
		if !known[id] {
			return nil, fmt.Errorf("convergent/why.yaml: %q is the ID of no claim", id)
		}
	}
	return why.Claims, nil
}
