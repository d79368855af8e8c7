package main

import (
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// newTable returns a table without lines, so that it reads well and cuts well.
// Columns that are named are numbers.
func newTable(w io.Writer, header table.Row, numbers ...string) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.Style{
		Name:    "plain",
		Box:     table.BoxStyle{PaddingRight: "  "},
		Format:  table.FormatOptions{Header: text.FormatUpper},
		Options: table.OptionsNoBordersAndSeparators,
	})
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	var configs []table.ColumnConfig
	for _, n := range numbers {
		configs = append(configs, table.ColumnConfig{Name: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	return plainTable{t}
}

// span returns a duration for people: to the tenth of a second below a minute,
// then to the second.
func span(d time.Duration) string {
	if d < time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return d.Round(time.Second).String()
}

// clock returns a time of day for people, "-" for none.
func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("15:04:05")
}

// soon returns when something is, so long from now, for people: a time of day, with its
// date if that is another one.
func soon(now time.Time, d time.Duration) string {
	now = now.Local()
	if at := now.Add(d); at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return day(at)
	}
	return clock(now.Add(d))
}
