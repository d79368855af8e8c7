package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	given := c.Services.Catalogue != "" || c.Services.Inline.Given()
	var (
		wrong  []*FieldError
		broken error
	)
	c.Catalogue, wrong, broken = c.Services.load(dir)
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
func (s *Services) load(dir string) (*catalogue.Catalogue, []*FieldError, error) {
	var c *catalogue.Catalogue
	if s.Catalogue != "" {
		name := s.Catalogue
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			accepted := "a readable file: " + err.Error()
			unreadable := &FieldError{Key: "services.catalogue", Value: s.Catalogue, Accepted: accepted}
			return nil, []*FieldError{unreadable}, nil //nolint:nilerr // the field error holds it
		}
		if c, err = catalogue.LoadWith(bytes.NewReader(data), name, filesIn(filepath.Dir(name))); err != nil {
			return nil, nil, err
		}
	}
	if !s.Inline.Given() {
		return c, nil, nil
	}
	c, wrong := c.With(s.Inline, filesIn(dir))
	return c, wrong, nil
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
