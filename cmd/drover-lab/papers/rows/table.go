package rows

import (
	"bytes"
	"maps"
	"slices"
	"sync"
)

// Format is how the rows of a file are written and read.
type Format[K comparable, R any] struct {
	Name    string // of the file
	Head    []byte // the first line of a new file; can be empty
	Read    func(text []byte) ([]R, error)
	Line    func(*R) ([]byte, error)
	Key     func(*R) K
	Compare func(a, b *R) int // nil: rows stay in the order in which they were added
}

// Table is a file of rows, one for each key. Its methods can be called from several
// goroutines.
type Table[K comparable, R any] struct {
	format Format[K, R]
	lines  *Lines
	mu     sync.Mutex
	rows   map[K]R
}

// OpenTable opens or makes a file of rows in a folder. The error can be that of
// Format.Read; the file is then unchanged.
func OpenTable[K comparable, R any](d *Dir, f Format[K, R]) (*Table[K, R], error) {
	t := &Table[K, R]{format: f, rows: map[K]R{}}
	empty := false
	var err error
	t.lines, err = d.Lines(f.Name, func(text []byte) error {
		empty = len(text) == 0
		all, err := f.Read(text)
		for i := range all {
			t.rows[f.Key(&all[i])] = all[i]
		}
		return err
	})
	if err == nil && empty && len(f.Head) > 0 {
		err = t.lines.Add(f.Head)
	}
	if err != nil {
		return nil, err
	}
	if f.Compare != nil {
		d.closing = append(d.closing, func() error { return t.sort(d) })
	}
	return t, nil
}

// Add adds a row.
func (t *Table[K, R]) Add(r *R) error {
	line, err := t.format.Line(r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.lines.Add(line); err != nil {
		return err
	}
	t.rows[t.format.Key(r)] = *r
	return nil
}

// Has reports whether there is a row with a key.
func (t *Table[K, R]) Has(key K) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.rows[key]
	return ok
}

// Rows returns the rows with some of the keys, in order.
func (t *Table[K, R]) Rows(keys []K) []R {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []R
	for _, k := range keys {
		if r, ok := t.rows[k]; ok {
			all = append(all, r)
		}
	}
	t.order(all)
	return all
}

func (t *Table[K, R]) order(all []R) {
	if t.format.Compare != nil {
		slices.SortFunc(all, func(a, b R) int { return t.format.Compare(&a, &b) })
	}
}

// sort writes the file again, in order: it does not depend on which row was known first.
func (t *Table[K, R]) sort(d *Dir) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Collect(maps.Values(t.rows))
	t.order(all)
	text := bytes.Clone(t.format.Head)
	for i := range all {
		line, err := t.format.Line(&all[i])
		if err != nil {
			return err
		}
		text = append(text, line...)
	}
	return d.Replace(t.format.Name, text)
}
