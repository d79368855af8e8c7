package catalogue

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
)

// MaxFile is the size of the largest catalogue file, in bytes.
const MaxFile = 1 << 20

var (
	serviceName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	argumentName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)
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
		slices.SortStableFunc(d.problems, func(a, b *config.FieldError) int { return a.Line - b.Line })
		return nil, &LoadError{File: name, Problems: d.problems}
	}
	return c, nil
}

func (d *decoder) file(data []byte) *Catalogue {
	c := &Catalogue{}
	if len(data) > MaxFile {
		d.fail(config.Value{Line: 1}, "too long, accepted: at most %d bytes", MaxFile)
		return c
	}
	var root config.Value
	if _, err := config.Read(data, &root); err != nil {
		d.fail(config.Value{Line: 1}, "%v", err)
		if p, ok := errors.AsType[*config.FieldError](err); ok {
			p.Line = max(p.Line, 1)
			d.problems[0] = p
		}
		return c
	}
	if !root.Given() {
		d.fail(config.Value{Line: 1}, "empty, accepted: version and services")
		return c
	}
	var in struct {
		Version  config.Value `yaml:"version,required"`
		Services config.Value `yaml:"services,required"`
	}
	d.fit(root, &in)
	if v, ok := d.scalar(in.Version, "1"); ok && v != "1" {
		d.fail(in.Version, "got %q, accepted: 1", v)
	}
	d.services(c, in.Services)
	return c
}

// With adds the services of a list in another configuration file to those of c, which can be nil.
func (c *Catalogue) With(list config.Value, files Files) (*Catalogue, []*config.FieldError) {
	all := &Catalogue{}
	if c != nil {
		all.services = slices.Clone(c.services)
	}
	d := &decoder{files: files}
	d.services(all, list)
	return all, d.problems
}

// services adds the services of a list.
func (d *decoder) services(c *Catalogue, list config.Value) {
	seen := make(map[string]string)
	for _, s := range c.services {
		seen[s.Name] = "the catalogue file"
	}
	for _, v := range d.list(list) {
		s := d.service(v)
		if other := seen[s.Name]; other != "" && s.Name != "" {
			d.fail(v.At("name"), "%q is already the service of %s, accepted: a unique name", s.Name, other)
		}
		seen[s.Name] = fmt.Sprintf("line %d", v.Line)
		c.services = append(c.services, s)
	}
	slices.SortStableFunc(c.services, func(a, b *Service) int { return strings.Compare(a.Name, b.Name) })
}

func (d *decoder) service(v config.Value) *Service {
	var in struct {
		Name           config.Value `yaml:"name,required"`
		Doc            config.Value `yaml:"doc,required"`
		Args           config.Value `yaml:"args"`
		Script         config.Value `yaml:"script"`
		Command        config.Value `yaml:"command"`
		Env            config.Value `yaml:"env"`
		Memory         config.Value `yaml:"memory"`
		Licenses       config.Value `yaml:"licenses"`
		Score          config.Value `yaml:"score"`
		Restartable    config.Value `yaml:"restartable"`
		Checkpointable config.Value `yaml:"checkpointable"`
		Checkpoint     config.Value `yaml:"checkpoint"`
		Launch         config.Value `yaml:"launch"`
		Walltime       config.Value `yaml:"walltime"`
		Model          config.Value `yaml:"model,required"`
	}
	s := &Service{walltime: margin{factor: DefaultFactor}}
	if !d.fit(v, &in) {
		return s
	}
	s.Name = d.matching(in.Name, serviceName, "a lower-case letter, then up to 62 of a-z, 0-9 and -")
	s.Doc = d.line(in.Doc)
	if in.Args.Given() {
		s.Arguments = d.arguments(in.Args)
		s.arrays = slices.ContainsFunc(s.Arguments, func(a Argument) bool { return a.Type.Rank() > 0 })
	}
	s.Script = d.script(in.Script)
	s.command = d.templates(in.Command, s.Arguments, !in.Script.Given())
	s.env = d.environ(in.Env, s.Arguments)
	if text, ok := d.scalar(in.Memory, bytesAccepted); ok {
		var err error
		if s.Memory, err = parseBytes(text); err != nil {
			d.fail(in.Memory, "%v", err)
		}
	}
	s.Licenses = d.licenses(in.Licenses)
	s.Score = int32(d.integer(in.Score, 1, math.MaxInt32, 0))
	s.Restartable = d.boolean(in.Restartable, "true (a job that was lost is started again) or false")
	s.Checkpointable = d.boolean(in.Checkpointable, "true (a job can be stopped and resumed) or false")
	if in.Checkpoint.Given() {
		s.checkpoint = d.checkpoint(in.Checkpoint, s.Arguments)
		if in.Checkpointable.Given() && !s.Checkpointable {
			d.fail(in.Checkpoint, "conflicts with checkpointable: false, accepted: one of them")
		}
		s.Checkpointable = true
	}
	const launches = "once, per-node, per-task"
	if text, ok := d.scalar(in.Launch, launches); ok {
		if s.Launch, ok = batch.ParseLaunch(text); !ok {
			d.fail(in.Launch, "got %q, accepted: %s", text, launches)
		}
	}
	if in.Walltime.Given() {
		s.walltime = d.margin(in.Walltime)
	}
	if in.Model.Given() {
		s.model = d.model(in.Model, s.Arguments)
	}
	if !in.Script.Given() && !in.Command.Given() {
		d.fail(v.At("command"), "missing, accepted: a command or a script")
	}
	if s.Script != nil {
		s.Memory = s.Script.memory(s.Memory)
	}
	return s
}

// matching decodes a name that matches a pattern.
func (d *decoder) matching(v config.Value, pattern *regexp.Regexp, accepted string) string {
	text, ok := d.scalar(v, accepted)
	if ok && !pattern.MatchString(text) {
		d.fail(v, "got %q, accepted: %s", text, accepted)
	}
	return text
}

// line decodes one line of documentation.
func (d *decoder) line(v config.Value) string {
	const accepted = "one line of at most 200 bytes"
	text, ok := d.scalar(v, accepted)
	if ok && (text == "" || len(text) > 200 || strings.ContainsAny(text, "\n\r\x00")) {
		d.fail(v, "accepted: %s", accepted)
	}
	return text
}

// templates reads a list of texts with placeholders. It begins with a program if program is set.
func (d *decoder) templates(v config.Value, args []Argument, program bool) []template {
	items := d.list(v)
	if _, list := v.Items(); list && len(items) == 0 && program {
		d.fail(v, "empty, accepted: a program and its arguments")
	}
	var out []template
	for i, item := range items {
		out = append(out, d.template(item, args))
		if text, ok := item.Text(); i == 0 && ok && text == "" && program {
			d.fail(item, "empty, accepted: a program")
		}
	}
	return out
}

func (d *decoder) template(v config.Value, args []Argument) template {
	text, ok := d.scalar(v, "text with placeholders")
	if !ok {
		return nil
	}
	t, err := parseTemplate(text, args)
	if err != nil {
		d.fail(v, "%v", err)
	}
	return t
}

func (d *decoder) environ(v config.Value, args []Argument) []envTemplate {
	entries, ok := v.Entries()
	if !ok && v.Given() {
		d.fail(v, "got %v, accepted: a mapping of variables to text", v)
	}
	var env []envTemplate
	seen := make(map[string]bool)
	for _, e := range entries {
		name, _ := e.Name.Text()
		switch {
		case !variableName.MatchString(name) || strings.HasPrefix(name, "DROVER_"):
			d.fail(e.Name, "accepted: a variable's name that does not begin with DROVER_")
		case seen[name]:
			d.fail(e.Name, "given twice, accepted: once")
		}
		seen[name] = true
		env = append(env, envTemplate{name: name, value: d.template(e.Value, args)})
	}
	slices.SortFunc(env, func(a, b envTemplate) int { return strings.Compare(a.name, b.name) })
	return env
}

// boolean decodes true or false.
func (d *decoder) boolean(v config.Value, accepted string) bool {
	text, ok := d.scalar(v, accepted)
	if ok && text != "true" && text != "false" {
		d.fail(v, "got %q, accepted: %s", text, accepted)
	}
	return text == "true"
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
func (d *decoder) licenses(v config.Value) []batch.License {
	var list []batch.License
	seen := make(map[string]bool)
	for _, item := range d.list(v) {
		var in struct {
			Name   config.Value `yaml:"name,required"`
			Copies config.Value `yaml:"copies"`
		}
		if _, ok := item.Text(); ok {
			in.Name = item
		} else {
			d.fit(item, &in)
		}
		name, ok := d.scalar(in.Name, LicenseAccepted)
		switch {
		case !ok:
		case BadLicense(name):
			d.fail(in.Name, "got %q, accepted: %s", name, LicenseAccepted)
		case seen[name]:
			d.fail(in.Name, "%q is given twice, accepted: once, with its copies", name)
		}
		seen[name] = true
		list = append(list, batch.License{Name: name, Copies: int32(d.integer(in.Copies, 1, mostCopies, 1))})
	}
	if len(list) > mostLicenses {
		d.fail(v, "got %d, accepted: at most %d", len(list), mostLicenses)
	}
	return list
}
