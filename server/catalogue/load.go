package catalogue

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

// MaxFile is the size of the largest catalogue file, in bytes.
const MaxFile = 1 << 20

var (
	serviceName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	argumentName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
)

// Load is LoadWith for a catalogue that refers to no other files.
func Load(r io.Reader, name string) (*Catalogue, error) { return LoadWith(r, name, nil) }

// LoadWith reads a catalogue. name is the file's name in messages. An invalid file
// returns a *LoadError with all problems; a failed read returns the reader's error.
func LoadWith(r io.Reader, name string, files Files) (*Catalogue, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading catalogue %s: %w", name, err)
	}
	d := &decoder{files: files}
	c := d.file(data)
	if len(d.problems) > 0 {
		sort.SliceStable(d.problems, func(i, j int) bool { return d.problems[i].Line < d.problems[j].Line })
		return nil, &LoadError{File: name, Problems: d.problems}
	}
	return c, nil
}

func (d *decoder) file(data []byte) *Catalogue {
	c := &Catalogue{}
	if len(data) > MaxFile {
		d.problems = append(d.problems,
			Problem{Line: 1, Message: fmt.Sprintf("too long, accepted: at most %d bytes", MaxFile)})
		return c
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	if err := dec.Decode(&doc); err != nil {
		d.problems = append(d.problems, syntaxProblem(err))
		return c
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		line := more.Line
		if err != nil {
			d.problems = append(d.problems, syntaxProblem(err))
		} else {
			d.problems = append(d.problems, Problem{Line: line, Message: "second document, accepted: one"})
		}
		return c
	}
	d.mapping(doc.Content[0], "",
		field{"version", true, func(n *yaml.Node, path string) {
			if v, ok := d.scalar(n, path, "1"); ok && v != "1" {
				d.fail(n, path, "got %q, accepted: 1", v)
			}
		}},
		field{"services", true, func(n *yaml.Node, path string) {
			seen := make(map[string]int)
			d.list(n, path, func(n *yaml.Node, path string) {
				s := d.service(n, path)
				if line, twice := seen[s.Name]; twice && s.Name != "" {
					d.fail(n, join(path, "name"), "%q is already the service of line %d, accepted: a unique name", s.Name, line)
				}
				seen[s.Name] = n.Line
				c.services = append(c.services, s)
			})
		}},
	)
	sort.SliceStable(c.services, func(i, j int) bool { return c.services[i].Name < c.services[j].Name })
	return c
}

// syntaxProblem extracts the line from an error message of the YAML library.
func syntaxProblem(err error) Problem {
	if errors.Is(err, io.EOF) {
		return Problem{Line: 1, Message: "empty, accepted: version and services"}
	}
	message := err.Error()
	p := Problem{Line: 1, Message: "YAML: " + yamlLine.ReplaceAllString(message, "")}
	if m := yamlLine.FindStringSubmatch(message); m[1] != "" {
		_, _ = fmt.Sscan(m[1], &p.Line)
	}
	return p
}

func (d *decoder) service(n *yaml.Node, path string) *Service {
	s := &Service{walltime: margin{factor: DefaultFactor}}
	var scripted, commanded, stays bool
	d.mapping(n, path,
		field{"name", true, func(n *yaml.Node, path string) {
			s.Name = d.matching(n, path, serviceName, "a lower-case letter, then up to 62 of a-z, 0-9 and -")
		}},
		field{"doc", true, func(n *yaml.Node, path string) { s.Doc = d.line(n, path) }},
		field{"args", false, func(n *yaml.Node, path string) {
			s.Arguments = d.arguments(n, path)
			s.arrays = slices.ContainsFunc(s.Arguments, func(a Argument) bool { return a.Type.Rank() > 0 })
		}},
		field{"script", false, func(n *yaml.Node, path string) { s.Script, scripted = d.script(n, path), true }},
		field{"command", false, func(n *yaml.Node, path string) {
			commanded = true
			d.list(n, path, func(n *yaml.Node, path string) {
				s.command = append(s.command, d.template(n, path, s.Arguments))
			})
			if n.Kind != yaml.SequenceNode || scripted {
				return
			}
			if len(n.Content) == 0 {
				d.fail(n, path, "empty, accepted: a program and its arguments")
				return
			}
			first := follow(n.Content[0])
			if first.Kind == yaml.ScalarNode && first.ShortTag() == "!!str" && first.Value == "" {
				d.fail(first, path+"[0]", "empty, accepted: a program")
			}
		}},
		field{"env", false, func(n *yaml.Node, path string) { s.env = d.environ(n, path, s.Arguments) }},
		field{"memory", false, func(n *yaml.Node, path string) {
			if v, ok := d.scalar(n, path, bytesAccepted); ok {
				var err error
				if s.Memory, err = parseBytes(v); err != nil {
					d.fail(n, path, "%v", err)
				}
			}
		}},
		field{"licenses", false, func(n *yaml.Node, path string) { s.Licenses = d.licenses(n, path) }},
		field{"score", false, func(n *yaml.Node, path string) { s.Score = int32(d.integer(n, path, 1, math.MaxInt32)) }},
		field{"restartable", false, func(n *yaml.Node, path string) {
			s.Restartable = d.boolean(n, path, "true (a job that was lost is started again) or false")
		}},
		field{"checkpointable", false, func(n *yaml.Node, path string) {
			s.Checkpointable = d.boolean(n, path, "true (a job can be stopped and resumed) or false")
			stays = !s.Checkpointable
		}},
		field{"checkpoint", false, func(n *yaml.Node, path string) {
			s.checkpoint, s.Checkpointable = d.checkpoint(n, path, s.Arguments), true
			if stays {
				d.fail(n, path, "conflicts with checkpointable: false, accepted: one of them")
			}
		}},
		field{"launch", false, func(n *yaml.Node, path string) {
			const accepted = "once, per-node, per-task"
			if v, ok := d.scalar(n, path, accepted); ok {
				if s.Launch, ok = batch.ParseLaunch(v); !ok {
					d.fail(n, path, "got %q, accepted: %s", v, accepted)
				}
			}
		}},
		field{"walltime", false, func(n *yaml.Node, path string) { s.walltime = d.margin(n, path) }},
		field{"model", true, func(n *yaml.Node, path string) { s.model = d.model(n, path, s.Arguments) }},
	)
	if n = follow(n); n.Kind == yaml.MappingNode && !scripted && !commanded {
		d.fail(n, join(path, "command"), "missing, accepted: a command or a script")
	}
	if s.Script != nil {
		s.Memory = s.Script.memory(s.Memory)
	}
	return s
}

// matching decodes a name that matches a pattern.
func (d *decoder) matching(n *yaml.Node, path string, pattern *regexp.Regexp, accepted string) string {
	v, ok := d.scalar(n, path, accepted)
	if ok && !pattern.MatchString(v) {
		d.fail(n, path, "got %q, accepted: %s", v, accepted)
	}
	return v
}

// line decodes one line of documentation.
func (d *decoder) line(n *yaml.Node, path string) string {
	const accepted = "one line of at most 200 bytes"
	v, ok := d.scalar(n, path, accepted)
	if ok && (v == "" || len(v) > 200 || strings.ContainsAny(v, "\n\r\x00")) {
		d.fail(n, path, "accepted: %s", accepted)
	}
	return v
}

func (d *decoder) template(n *yaml.Node, path string, args []Argument) template {
	v, ok := d.scalar(n, path, "text with placeholders")
	if !ok {
		return nil
	}
	t, err := parseTemplate(v, args)
	if err != nil {
		d.fail(n, path, "%v", err)
	}
	return t
}

func (d *decoder) environ(n *yaml.Node, path string, args []Argument) []envTemplate {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "got %s, accepted: a mapping of variables to text", kindOf(n))
		return nil
	}
	var env []envTemplate
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], follow(n.Content[i+1])
		at := join(path, k.Value)
		switch {
		case !variableName.MatchString(k.Value) || strings.HasPrefix(k.Value, "DROVER_"):
			d.fail(k, at, "accepted: a variable's name that does not begin with DROVER_")
		case seen[k.Value]:
			d.fail(k, at, "given twice, accepted: once")
		}
		seen[k.Value] = true
		env = append(env, envTemplate{name: k.Value, value: d.template(v, at, args)})
	}
	sort.Slice(env, func(i, j int) bool { return env[i].name < env[j].name })
	return env
}

// boolean decodes true or false.
func (d *decoder) boolean(n *yaml.Node, path, accepted string) bool {
	v, ok := d.scalar(n, path, accepted)
	if ok && v != "true" && v != "false" {
		d.fail(n, path, "got %q, accepted: %s", v, accepted)
	}
	return ok && v == "true"
}

// Limits of a service's licenses.
const (
	mostLicenses = 100
	mostCopies   = 1 << 30
	longestWord  = 255 // bytes of a license's name
)

// BadLicense reports whether a name is not a valid license name.
func BadLicense(name string) bool {
	return name == "" || len(name) > longestWord || strings.ContainsAny(name, ":=, \t\n\r\x00")
}

// LicenseAccepted describes a valid license name.
const LicenseAccepted = "a word of at most 255 bytes without : , and ="

// licenses decodes the licenses of a service's jobs: names, or names with copies.
func (d *decoder) licenses(n *yaml.Node, path string) []batch.License {
	var list []batch.License
	seen := make(map[string]bool)
	d.list(n, path, func(n *yaml.Node, path string) {
		l := batch.License{Copies: 1}
		name := func(n *yaml.Node, path string) {
			v, ok := d.scalar(n, path, LicenseAccepted)
			switch {
			case !ok:
			case BadLicense(v):
				d.fail(n, path, "got %q, accepted: %s", v, LicenseAccepted)
			case seen[v]:
				d.fail(n, path, "%q is given twice, accepted: once, with its copies", v)
			}
			l.Name, seen[v] = v, true
		}
		if n.Kind == yaml.ScalarNode {
			name(n, path)
		} else {
			d.mapping(n, path,
				field{"name", true, name},
				field{"copies", false, func(n *yaml.Node, path string) { l.Copies = int32(d.integer(n, path, 1, mostCopies)) }},
			)
		}
		list = append(list, l)
	})
	if len(list) > mostLicenses {
		d.fail(n, path, "got %d, accepted: at most %d", len(list), mostLicenses)
	}
	return list
}
