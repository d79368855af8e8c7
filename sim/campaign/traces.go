package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// traces sees that all traces of a campaign are there, before its first experiment,
// and returns what they hold: of each scenario that has any a line for each, with
// its name and digest.
func (c *Campaign) traces(r runner) ([]named, error) {
	var all []named
	known := map[string]string{} // by path: scenarios share traces
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		files, err := r.traces(s)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		var lines []string
		for _, f := range files {
			if known[f.Path] == "" {
				if known[f.Path], err = digest(f.Path); err != nil {
					return nil, fmt.Errorf("scenario %s: trace: %w", s.Name, err)
				}
			}
			lines = append(lines, f.Name+" "+known[f.Path])
		}
		if lines != nil {
			all = append(all, named{s.Name, lines})
		}
	}
	return all, nil
}

// digest returns the SHA-256 of a file.
func digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
