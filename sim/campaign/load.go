package campaign

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

// embedded are the campaigns that come with Drover.
//
//go:embed *.yaml
var embedded embed.FS

// Names lists the campaigns that come with Drover.
func Names() []string {
	entries, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // it is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads a campaign: one that comes with Drover by its name, else a file. The
// error may be an *UnknownError, a *FileError.
func Load(name string) (*Campaign, error) {
	var data []byte
	var err error
	if slices.Contains(Names(), name) {
		data, err = embedded.ReadFile(name + ".yaml")
	} else {
		data, err = read(name, maxFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &UnknownError{name, Names()}
	}
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	p := parser{find: func(scenario string) (Scenario, *config.FieldError) { return find(name, scenario) }}
	c, err := p.parse(data)
	if err != nil {
		return nil, &FileError{name, err}
	}
	return c, nil
}

// read reads a regular file of so many bytes at most.
func read(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: no regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: over %d bytes", path, most)
	}
	return data, err
}

// find returns a scenario of a campaign: one that comes with Drover, or a file,
// whose path is from the campaign's folder.
func find(campaign, name string) (Scenario, *config.FieldError) {
	s := Scenario{Name: name, Path: name}
	var err error
	comes := false
	if s.Text, comes = scenarios.Text(name); !comes {
		if !filepath.IsAbs(name) {
			s.Path = filepath.Join(filepath.Dir(campaign), name)
		}
		s.Text, err = read(s.Path, sim.MaxScenario)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, &config.FieldError{
			Value: name, Accepted: strings.Join(scenarios.Names(), ", ") + ", or the path of a scenario file from the campaign's folder",
		}
	case err != nil:
		return s, &config.FieldError{Message: err.Error()}
	}
	if s.Grid, err = sim.ParseScenario(bytes.NewReader(s.Text), s.Path); err != nil {
		return s, &config.FieldError{Message: err.Error()}
	}
	return s, nil
}
