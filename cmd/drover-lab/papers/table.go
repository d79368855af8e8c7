package papers

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// Table is written as CSV, and as Markdown.
type Table struct {
	Head  []string
	Words int // so many columns are words; the others are numbers, and end in line
	Rows  [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// CSV returns the table as CSV.
func (t *Table) CSV() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.Write(t.Head); err != nil {
		return nil, err
	}
	if err := w.WriteAll(t.Rows); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// cells keeps what is written in a cell inside it.
var cells = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ")

// Markdown returns the table in Markdown.
func (t *Table) Markdown() string {
	var b strings.Builder
	line := func(row []string) {
		for _, c := range row {
			b.WriteString("| " + cells.Replace(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for i := range t.Head {
		if i < t.Words {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}
