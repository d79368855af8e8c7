package main

import (
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
)

// plain returns what somebody else has written as a terminal may show it: names of
// files, arguments, reasons of moves and records of decisions are given by whoever
// submits, and could move the cursor, or turn the text around, of who asks about a job.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// plainTable shows the cells of its rows plain.
type plainTable struct{ table.Writer }

// AppendRow is table.Writer's.
func (t plainTable) AppendRow(row table.Row, configs ...table.RowConfig) {
	shown := make(table.Row, len(row))
	for i, cell := range row {
		if s, ok := cell.(string); ok {
			cell = plain(s)
		}
		shown[i] = cell
	}
	t.Writer.AppendRow(shown, configs...)
}
