package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// ReadConfig reads a configuration file over the defaults, and the catalogue that it names.
func ReadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read server configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return Config{}, fmt.Errorf("read server configuration: %w", err)
	}
	c, err := ParseConfig(data, dir)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads YAML over the defaults. Relative paths in it are relative to dir. The error
// joins all problems, ordered by line: a *FieldError for each field, and a *catalogue.LoadError for
// the catalogue.
func ParseConfig(data []byte, dir string) (Config, error) {
	c := Default()
	c.Version = 0 // required in the file
	file, err := config.Read(data, &c)
	if err != nil {
		return Config{}, fmt.Errorf("server configuration: %w", err)
	}
	for _, path := range []*string{&c.DataDir, &c.Batch.Conf, &c.Batch.Commands} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	given := c.Services.Catalogue != "" || !c.Services.Inline.IsZero()
	var (
		wrong  []*FieldError
		broken error
	)
	c.Catalogue, wrong, broken = c.Services.load(dir, file)
	problems := slices.DeleteFunc(c.problems(), func(f *FieldError) bool {
		return f.Key == "services" && given // load has reported why it is missing
	})
	if err := errors.Join(file.Check(append(problems, wrong...)), broken); err != nil {
		return Config{}, fmt.Errorf("server configuration: %w", err)
	}
	return c, nil
}

// load reads the catalogue; nil if there is none, or if a key of the configuration or the file that
// it names is wrong.
func (s *Services) load(dir string, file *config.File) (*catalogue.Catalogue, []*FieldError, error) {
	var (
		all yaml.Node // a list
		one *catalogue.Catalogue
	)
	all.Kind = yaml.SequenceNode
	if s.Catalogue != "" {
		name := s.Catalogue
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, wrong := s.read(name)
		if len(wrong) > 0 {
			return nil, wrong, nil
		}
		var err error
		if one, err = catalogue.LoadWith(bytes.NewReader(data), name, filesIn(filepath.Dir(name))); err != nil {
			return nil, nil, err
		}
		var in struct{ Services yaml.Node }
		if err := yaml.Unmarshal(data, &in); err != nil { // it was valid above
			return nil, nil, err
		}
		absolute(&in.Services, filepath.Dir(name))
		all.Content = append(all.Content, in.Services.Content...)
	}
	if s.Inline.IsZero() {
		return one, nil, nil
	}
	if s.Inline.Kind != yaml.SequenceNode {
		return nil, []*FieldError{{Key: "services.inline", Value: s.Inline.Value, Accepted: "a list of services"}}, nil
	}
	inFile := len(all.Content)
	all.Content = append(all.Content, s.Inline.Content...)
	both, err := yaml.Marshal(map[string]any{"version": 1, "services": &all})
	if err != nil {
		return nil, nil, fmt.Errorf("services.inline: %w", err)
	}
	one, err = catalogue.LoadWith(bytes.NewReader(both), "services", filesIn(dir))
	var bad *catalogue.LoadError
	switch {
	case err == nil:
		return one, nil, nil
	case !errors.As(err, &bad):
		return nil, nil, err
	}
	var wrong []*FieldError
	for _, p := range bad.Problems {
		p.Key = inlineKey(p.Key, inFile)
		p.Line = file.Nearest(p.Key)
		wrong = append(wrong, p)
	}
	return nil, wrong, nil
}

// filesIn reads the files that a catalogue names, by paths relative to dir.
func filesIn(dir string) catalogue.Files {
	return func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return os.ReadFile(name)
	}
}

// absolute makes the paths of scripts in a catalogue absolute.
func absolute(services *yaml.Node, dir string) {
	for _, service := range services.Content {
		for i := 0; i+1 < len(service.Content); i += 2 {
			v := service.Content[i+1]
			if service.Kind == yaml.MappingNode && service.Content[i].Value == "script" && !strings.HasPrefix(v.Value, "#!") && !filepath.IsAbs(v.Value) {
				v.Value = filepath.Join(dir, v.Value)
			}
		}
	}
}

// read returns the content of the catalogue's file.
func (s *Services) read(name string) ([]byte, []*FieldError) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, []*FieldError{{Key: "services.catalogue", Value: s.Catalogue, Accepted: "a file that can be read: " + err.Error()}}
	}
	return data, nil
}

var serviceKey = regexp.MustCompile(`^services\[(\d+)\]`)

// inlineKey converts a key of a catalogue that was merged from both sources to the key in the
// configuration.
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
