package main

import (
	"fmt"
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

// span returns a duration for people: to the tenth of a second below a minute, then to
// the second, and from a day on as D-HH:MM:SS, which is read as well.
func span(d time.Duration) string {
	if d < time.Minute && d > -time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	d = d.Round(time.Second)
	if d < oneDay && d > -oneDay {
		return d.String()
	}
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := int64(d / time.Second)
	return fmt.Sprintf("%s%d-%02d:%02d:%02d", sign, s/86400, s/3600%24, s/60%60, s%60)
}

// oneDay has 24 hours.
const oneDay = 24 * time.Hour

// clock returns a time for people, "-" for none: one of today as the time of day.
func clock(t time.Time) string { return clockAt(time.Now(), t) }

func clockAt(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t, now = t.Local(), now.Local()
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		return day(t)
	}
	return t.Format("15:04:05")
}

// soon returns when something is, so long from now, for people: a time of day, with its
// date if that is another one.
func soon(now time.Time, d time.Duration) string { return clockAt(now, now.Add(d)) }
