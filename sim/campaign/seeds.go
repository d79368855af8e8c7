package campaign

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/internal/config"
)

const seedsAccepted = "1..10, or a list of whole numbers from 0 on, as [1, 2, 5]"

// seeds reads a range, or a list.
func (p *parser) seeds(n *yaml.Node) []uint64 {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.ScalarNode:
		first, last, ranged := strings.Cut(n.Value, "..")
		from, err := strconv.ParseUint(first, 10, 64)
		to := from
		if ranged && err == nil {
			to, err = strconv.ParseUint(last, 10, 64)
		}
		if err != nil || to < from {
			p.badSeeds(n, seedsAccepted)
			return nil
		}
		if to-from >= MaxValues {
			p.badSeeds(n, fmt.Sprintf("at most %d seeds", MaxValues))
			return nil
		}
		seeds := make([]uint64, 0, to-from+1)
		for i := range to - from + 1 {
			seeds = append(seeds, from+i)
		}
		return seeds
	case yaml.SequenceNode:
		texts := make([]string, len(n.Content))
		for i, v := range n.Content {
			for v.Kind == yaml.AliasNode {
				v = v.Alias
			}
			texts[i] = v.Value // "" for what is no scalar, and so no number
		}
		return list(p, "seeds", texts, func(s uint64) string { return strconv.FormatUint(s, 10) }, accepts(parseSeed, "a whole number from 0 on"))
	}
	p.badSeeds(n, seedsAccepted)
	return nil
}

func parseSeed(text string) (uint64, bool) {
	seed, err := strconv.ParseUint(text, 10, 64)
	return seed, err == nil
}

func (p *parser) badSeeds(n *yaml.Node, accepted string) {
	p.problems = append(p.problems, &config.FieldError{Key: "seeds", Value: n.Value, Accepted: accepted, Line: n.Line})
}
