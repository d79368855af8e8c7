package papers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// File is a file of a report.
type File struct {
	Name string
	Data []byte
}

// compose returns all files of a report: those of its sections, what else it has, its
// page, and an index in JSON that names the others.
func compose(sections []section, more []File, page string, index func(files []string) any) ([]File, error) {
	files, err := filesOf(sections)
	if err != nil {
		return nil, err
	}
	files = append(append(files, more...), File{"report.md", []byte(page)})
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
	}
	text, err := encode(index(names))
	if err != nil {
		return nil, fmt.Errorf("report.json: %w", err)
	}
	return append(files, File{"report.json", text}), nil
}

// encode returns a value as JSON for people to read, too.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}

// filesOf returns the files of sections.
func filesOf(sections []section) (files []File, err error) {
	for i := range sections {
		some, err := sections[i].files()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sections[i].file, err)
		}
		files = append(files, some...)
	}
	return files, nil
}

// files returns those of a section: its picture, and its table, as far as it has
// them. What has no rows has none.
func (s *section) files() (files []File, err error) {
	if s.empty {
		return nil, nil
	}
	if s.chart != nil {
		svg, err := chart.SVG(s.chart)
		if err != nil {
			return nil, err
		}
		png, err := chart.PNG(s.chart)
		if err != nil {
			return nil, err
		}
		files = append(files, File{s.file + ".svg", svg}, File{s.file + ".png", png})
	}
	if s.table != nil {
		csv, err := s.table.csv()
		if err != nil {
			return nil, err
		}
		files = append(files, File{s.file + ".csv", csv}, File{s.file + ".md", []byte(s.table.markdown())})
	}
	return files, nil
}

// write writes files to a folder, which is made if it is not there, and returns their
// names.
func write(dir string, of func() ([]File, error)) ([]string, error) {
	files, err := of()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	var names []string
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		names = append(names, f.Name)
	}
	return names, nil
}
