package agent

import (
	"fmt"
	"os"

	"github.com/seed-9b8f70bb/drover/internal/config"
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
// and reports what Validate would, by line: a joined error of *FieldError.
func ParseConfig(data []byte) (Config, error) {
	c := Default()
	c.Version = 0 // has to be said
	file, err := config.Read(data, &c)
	if err == nil {
		err = file.Check(c.problems())
	}
	if err != nil {
		return Config{}, fmt.Errorf("agent configuration: %w", err)
	}
	return c, nil
}
