package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadConfig reads a configuration file over the defaults.
func ReadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read agent configuration: %w", err)
	}
	c, err := ParseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads YAML over the defaults. It refuses keys it does not know,
// and reports what Validate would, with the lines.
func ParseConfig(data []byte) (Config, error) {
	c := Default()
	c.Version = 0 // has to be said
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("agent configuration: %w", err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("agent configuration: more than one document, accepted: one")
	}
	problems := c.problems()
	if len(problems) == 0 {
		return c, nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return Config{}, fmt.Errorf("agent configuration: %w", err)
	}
	for _, p := range problems {
		var f *FieldError
		if errors.As(p, &f) {
			f.Line = lineOf(&root, f.Key)
		}
	}
	return Config{}, fmt.Errorf("agent configuration: %w", errors.Join(problems...))
}

// step is one part of a key: "seeds" or "[0]".
var step = regexp.MustCompile(`\[(\d+)\]|[^.\[\]]+`)

// lineOf returns the line of the value at key, or 0.
func lineOf(n *yaml.Node, key string) int {
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	for _, m := range step.FindAllStringSubmatch(key, -1) {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		if m[1] != "" {
			if i, err := strconv.Atoi(m[1]); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
				next = n.Content[i]
			}
		} else if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == m[0] {
					next = n.Content[i+1]
				}
			}
		}
		if next == nil {
			return 0
		}
		n = next
	}
	return n.Line
}

// rateUnits are the suffixes of a rate, longest first.
var rateUnits = []struct {
	suffix string
	bytes  float64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

// UnmarshalYAML reads a rate with its unit.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	text := strings.TrimSuffix(n.Value, "/s")
	for _, u := range rateUnits {
		number, found := strings.CutSuffix(text, u.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v >= 0 && v*u.bytes < math.MaxInt64) {
			break
		}
		*r = Rate(v * u.bytes)
		return nil
	}
	return &yaml.TypeError{Errors: []string{
		fmt.Sprintf("line %d: %q, accepted: a rate with its unit, as 125MB/s or 1GiB/s", n.Line, n.Value),
	}}
}
