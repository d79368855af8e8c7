package catalogue

import (
	"fmt"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is one thing that is wrong with a catalogue file.
type Problem struct {
	Line    int    // from 1; 0 if not known
	Key     string // path: "services[2].args[0].min"
	Message string // what was found and what is accepted
}

// LoadError lists everything that is wrong with a catalogue file.
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

// decoder walks a parsed YAML file and collects problems. It is written out
// rather than left to struct tags so that every problem has its line and key,
// and one problem does not hide the next.
type decoder struct {
	problems []Problem
	files    Files       // nil: a catalogue names none
	dims     []dimension // of the arguments of the service in hand
}

// field is a key of a mapping and how to read its value.
type field struct {
	key      string
	required bool
	read     func(n *yaml.Node, path string)
}

func (d *decoder) fail(n *yaml.Node, path, format string, a ...any) {
	d.problems = append(d.problems, Problem{Line: n.Line, Key: path, Message: fmt.Sprintf(format, a...)})
}

// failed returns whether something went wrong after a mark.
func (d *decoder) failed(mark int) bool { return len(d.problems) > mark }

// mapping reads the known fields in the order given here, so that what is read
// later may use what was read before, whatever the order in the file.
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

// list reads each element of a sequence.
func (d *decoder) list(n *yaml.Node, path string, read func(n *yaml.Node, path string)) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "got %s, accepted: a list", kindOf(n))
		return
	}
	for i, item := range n.Content {
		read(follow(item), fmt.Sprintf("%s[%d]", path, i))
	}
}

// scalar returns the text of a single value that is not null.
func (d *decoder) scalar(n *yaml.Node, path, accepted string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.fail(n, path, "got %s, accepted: %s", kindOf(n), accepted)
		return "", false
	}
	return n.Value, true
}

// follow replaces an alias by what it stands for. The schema bounds the depth,
// so an alias to itself cannot loop.
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
