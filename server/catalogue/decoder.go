package catalogue

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Problem is one mistake in a catalogue file.
type Problem struct {
	Line    int    // from 1; 0 if unknown
	Key     string // path: "services[2].args[0].min"
	Message string // the found and the accepted values
}

// LoadError lists all mistakes in a catalogue file.
type LoadError struct {
	File     string
	Problems []Problem // by line
}

// Error returns one line FILE:LINE: KEY: MESSAGE for each problem.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		key := p.Key
		if key != "" {
			key += ": "
		}
		lines[i] = fmt.Sprintf("%s:%d: %s%s", e.File, p.Line, key, p.Message)
	}
	return strings.Join(lines, "\n")
}

// decoder walks a parsed YAML file and collects problems. It does not use struct tags, so
// that every problem has its line and key, and one problem does not hide the next.
type decoder struct {
	problems []Problem
	files    Files       // nil: the catalogue refers to no files
	dims     []dimension // of the service that is being decoded
}

// field is a key of a mapping and the function that decodes its value.
type field struct {
	key      string
	required bool
	read     func(n *yaml.Node, path string)
}

func (d *decoder) fail(n *yaml.Node, path, format string, a ...any) {
	d.problems = append(d.problems, Problem{Line: n.Line, Key: path, Message: fmt.Sprintf(format, a...)})
}

// failed reports whether a problem was added after a mark.
func (d *decoder) failed(mark int) bool { return len(d.problems) > mark }

// mapping decodes the known fields in the order of fields, not of the file. Later fields
// can so use the values of earlier ones.
func (d *decoder) mapping(n *yaml.Node, path string, fields ...field) {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "got %s, accepted: a mapping", kindOf(n))
		return
	}
	values := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !known(fields, k.Value) {
			d.fail(k, join(path, k.Value), "unknown key, accepted: %s", keys(fields))
			continue
		}
		if values[k.Value] != nil {
			d.fail(k, join(path, k.Value), "given twice, accepted: once")
			continue
		}
		values[k.Value] = v
	}
	for _, f := range fields {
		v := values[f.key]
		if v != nil {
			f.read(follow(v), join(path, f.key))
		} else if f.required {
			d.fail(n, join(path, f.key), "missing")
		}
	}
}

// list calls read for each element of a sequence.
func (d *decoder) list(n *yaml.Node, path string, read func(n *yaml.Node, path string)) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "got %s, accepted: a list", kindOf(n))
		return
	}
	for i, item := range n.Content {
		read(follow(item), fmt.Sprintf("%s[%d]", path, i))
	}
}

// scalar returns the text of a scalar; false and a problem for null or another kind.
func (d *decoder) scalar(n *yaml.Node, path, accepted string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.fail(n, path, "got %s, accepted: %s", kindOf(n), accepted)
		return "", false
	}
	return n.Value, true
}

// follow resolves an alias. The schema bounds the depth, so an alias to itself cannot
// loop.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func known(fields []field, key string) bool {
	for _, f := range fields {
		if f.key == key {
			return true
		}
	}
	return false
}

func keys(fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return "nothing"
		}
		return fmt.Sprintf("%q", n.Value)
	default:
		return "nothing"
	}
}

const (
	bytesAccepted    = "bytes with a unit, as 512MiB (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)"
	durationAccepted = "a time with its unit, as 90s, 5m or 1h30m"
)

var byteUnits = []struct {
	name string
	size float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// parseBytes parses an amount of memory: a number and a unit. It returns bytes.
func parseBytes(s string) (int64, error) {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		b := float64(x * u.size)
		if err != nil || !(b >= 1 && b <= 1<<62) {
			break
		}
		return int64(math.Ceil(b)), nil
	}
	return 0, fmt.Errorf("got %q, accepted: %s", s, bytesAccepted)
}

// parseDuration parses a time of at least zero with its unit.
func parseDuration(s string) (batch.Duration, bool) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || !strings.ContainsAny(s, "hmsuµn") {
		return 0, false
	}
	return batch.Duration(d / time.Microsecond), true
}
