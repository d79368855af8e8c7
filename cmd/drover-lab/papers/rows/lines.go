package rows

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Lines is a file to which lines are added.
type Lines struct{ file *os.File }

// Lines opens a file of lines, and makes it if it is not there. It returns the lines
// that it has; a last one that was torn is cut off once keep has taken the others: what
// it refuses is left as it is.
func (d *Dir) Lines(name string, keep func(text []byte) error) (*Lines, error) {
	path := filepath.Join(d.path, name)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	l := &Lines{file}
	d.lines = append(d.lines, l)
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if err := keep(whole); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return l, nil
}

// Add adds whole lines.
func (l *Lines) Add(text []byte) error {
	if _, err := l.file.Write(text); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	return nil
}
