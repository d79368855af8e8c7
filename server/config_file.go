package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// ReadConfig reads a configuration file over the defaults, and the catalogue
// that it names.
func ReadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read server configuration: %w", err)
	}
	c, err := ParseConfig(data, filepath.Dir(path))
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads YAML over the defaults. Relative paths in it begin at dir.
// The error joins everything that is wrong, by line: a *FieldError for each
// field, and a *catalogue.LoadError for the catalogue.
func ParseConfig(data []byte, dir string) (Config, error) {
	c := Default()
	c.Version = 0 // has to be said
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return Config{}, fmt.Errorf("server configuration: %w", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	problems, err := shapeProblems(d.Decode(&c))
	if err != nil {
		return Config{}, fmt.Errorf("server configuration: %w", err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("server configuration: more than one document, accepted: one")
	}
	if c.DataDir != "" && !filepath.IsAbs(c.DataDir) {
		c.DataDir = filepath.Join(dir, c.DataDir)
	}
	given := c.Services.Catalogue != "" || !c.Services.Inline.IsZero()
	var loaded []error
	c.Catalogue, loaded = c.Services.load(dir, &root)
	for _, f := range c.problems() {
		if f.Key == "services" && given {
			continue // load has said why there is none
		}
		f.Line = lineOf(&root, f.Key)
		problems = append(problems, f)
	}
	if problems = append(problems, loaded...); len(problems) == 0 {
		return c, nil
	}
	slices.SortStableFunc(problems, func(a, b error) int { return lineOfError(a) - lineOfError(b) })
	return Config{}, fmt.Errorf("server configuration: %w", errors.Join(problems...))
}

var (
	yamlMessage  = regexp.MustCompile(`^line (\d+): (.*)$`)
	yamlUnknown  = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
	yamlMismatch = regexp.MustCompile("^cannot unmarshal \\S+ (`.*` )?into (\\S+)$")
)

// shapeProblems turns what the YAML library has collected into FieldErrors. The
// second result is an error that ends the reading.
func shapeProblems(err error) ([]error, error) {
	var collected *yaml.TypeError
	if err == nil || errors.Is(err, io.EOF) {
		return nil, nil
	}
	if !errors.As(err, &collected) {
		return nil, err
	}
	var problems []error
	for _, text := range collected.Errors {
		m := yamlMessage.FindStringSubmatch(text)
		if m == nil {
			problems = append(problems, errors.New(text))
			continue
		}
		f := &FieldError{Key: "value", Accepted: m[2]}
		f.Line, _ = strconv.Atoi(m[1]) // digits, by the expression
		if u := yamlUnknown.FindStringSubmatch(m[2]); u != nil {
			f.Key, f.Accepted = u[1], "a key of a server configuration, see docs/examples"
		} else if u := yamlMismatch.FindStringSubmatch(m[2]); u != nil {
			f.Value, f.Accepted = strings.Trim(u[1], "` "), "a value of type "+u[2]
		}
		problems = append(problems, f)
	}
	return problems, nil
}

func lineOfError(err error) int {
	var f *FieldError
	if errors.As(err, &f) {
		return f.Line
	}
	return math.MaxInt // a catalogue has lines of its own
}

// load reads the catalogue, nil if there is none or something is wrong with it.
func (s *Services) load(dir string, root *yaml.Node) (*catalogue.Catalogue, []error) {
	var (
		all  yaml.Node // a list
		one  *catalogue.Catalogue
		errs []error
	)
	all.Kind = yaml.SequenceNode
	if s.Catalogue != "" {
		name := s.Catalogue
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, []error{&FieldError{
				Key: "services.catalogue", Value: s.Catalogue, Accepted: "a file that can be read: " + err.Error(),
				Line: lineOf(root, "services.catalogue"),
			}}
		}
		if one, err = catalogue.Load(bytes.NewReader(data), name); err != nil {
			return nil, []error{err}
		}
		var file struct{ Services yaml.Node }
		if err := yaml.Unmarshal(data, &file); err != nil { // it was loaded above
			return nil, []error{err}
		}
		all.Content = append(all.Content, file.Services.Content...)
	}
	if s.Inline.IsZero() {
		return one, nil
	}
	if s.Inline.Kind != yaml.SequenceNode {
		return nil, []error{&FieldError{Key: "services.inline", Accepted: "a list of services", Line: s.Inline.Line}}
	}
	inFile := len(all.Content)
	all.Content = append(all.Content, s.Inline.Content...)
	both, err := yaml.Marshal(map[string]any{"version": 1, "services": &all})
	if err != nil {
		return nil, []error{fmt.Errorf("services.inline: %w", err)}
	}
	one, err = catalogue.Load(bytes.NewReader(both), "services")
	var wrong *catalogue.LoadError
	switch {
	case err == nil:
		return one, nil
	case !errors.As(err, &wrong):
		return nil, []error{err}
	}
	for _, p := range wrong.Problems {
		key := inlineKey(p.Key, inFile)
		errs = append(errs, &FieldError{Key: key, Accepted: p.Message, Line: nearest(root, key)})
	}
	return nil, errs
}

var serviceKey = regexp.MustCompile(`^services\[(\d+)\]`)

// inlineKey returns where the configuration has what a catalogue made of both
// sources calls key.
func inlineKey(key string, inFile int) string {
	m := serviceKey.FindStringSubmatch(key)
	if m == nil {
		return "services.inline"
	}
	i, err := strconv.Atoi(m[1])
	if err != nil {
		return "services.inline"
	}
	return fmt.Sprintf("services.inline[%d]%s", i-inFile, key[len(m[0]):])
}

// nearest returns the line of the value at key, or of what should hold it.
func nearest(root *yaml.Node, key string) int {
	for {
		if line := lineOf(root, key); line > 0 {
			return line
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 {
			return 0
		}
		key = key[:cut]
	}
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

// sizeUnits are the suffixes of a size, longest first.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

// UnmarshalYAML reads a size with its unit.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	for _, u := range sizeUnits {
		number, found := strings.CutSuffix(n.Value, u.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v >= 0 && v*u.bytes <= 1<<62) {
			break
		}
		*s = Size(v * u.bytes)
		return nil
	}
	return &yaml.TypeError{Errors: []string{
		fmt.Sprintf("line %d: %q is no size, accepted: bytes with a unit, as 512MiB or 16GB", n.Line, n.Value),
	}}
}
