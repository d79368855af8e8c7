package cmdline

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is a table without lines, easy to read and to cut. On a terminal that is too narrow for
// it, it shortens IDs, leaves out columns, and wraps the last one; files and pipes get all.
type Table struct {
	out      io.Writer
	columns  int                  // of the terminal; 0 for no limit
	configs  []table.ColumnConfig // by column
	optional []string
	shortIDs bool
	header   table.Row
	rows     []table.Row
	flushed  bool // the header is printed
}

// NewTable returns a table with the given columns, which may be none. Those named in numbers are
// right-aligned. Text in its rows is made Printable.
func NewTable(w io.Writer, header table.Row, numbers ...string) *Table {
	t := &Table{out: w, header: header}
	if terminal, ok := w.(interface{ Columns() int }); ok {
		t.columns = terminal.Columns()
	}
	for _, name := range header {
		c := table.ColumnConfig{Name: fmt.Sprint(name)}
		if slices.Contains(numbers, c.Name) {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		t.configs = append(t.configs, c)
	}
	return t
}

// Optional names the columns to leave out, from the first on, where the terminal is too narrow.
func (t *Table) Optional(names ...string) { t.optional = names }

// ShortIDs lets the table shorten IDs where the terminal is too narrow: commands take the beginning
// of what they name.
func (t *Table) ShortIDs() { t.shortIDs = true }

// AppendRow adds a row.
func (t *Table) AppendRow(row table.Row) {
	shown := make(table.Row, len(row))
	for i, cell := range row {
		if s, ok := cell.(string); ok {
			cell = Printable(s)
		}
		shown[i] = cell
	}
	t.rows = append(t.rows, shown)
}

// Flush writes the rows appended so far. Those appended later follow under the same header, in columns
// that are at least as wide.
func (t *Table) Flush() {
	if len(t.rows) == 0 {
		return
	}
	_, rows, configs := t.render(longID)
	for i := range configs {
		for _, row := range append(rows, t.header) {
			if i < len(row) && configs[i].WidthMax == 0 {
				configs[i].WidthMin = max(configs[i].WidthMin, text.LongestLineLen(fmt.Sprint(row[i])))
			}
		}
	}
	t.configs, t.rows, t.flushed = configs, nil, true
}

// Render writes the table, or what follows after Flush, and returns it. An error of the writer is the
// writer's to remember.
func (t *Table) Render() (s string) {
	switch {
	case !t.flushed:
		s, _, _ = t.render(shortID)
	case len(t.rows) > 0:
		s, _, _ = t.render(longID)
	}
	return s
}

// The least lengths of shortened IDs: those of the groups that hold the time of a UUIDv7, and, where not
// all IDs are known yet, with enough random bits to tell any two apart.
const (
	shortID = 13
	longID  = 23
)

// render writes the table and returns it, with its rows and columns as they were written.
func (t *Table) render(leastID int) (string, []table.Row, []table.ColumnConfig) {
	rows, configs := t.rows, slices.Clone(t.configs)
	s := t.layOut(rows, configs)
	if t.shortIDs && t.columns > 0 && text.LongestLineLen(s) > t.columns {
		rows = shortenIDs(rows, leastID)
		s = t.layOut(rows, configs)
	}
	for _, name := range t.optional {
		if t.columns == 0 || text.LongestLineLen(s) <= t.columns {
			break
		}
		for i := range configs {
			configs[i].Hidden = configs[i].Hidden || configs[i].Name == name
		}
		s = t.layOut(rows, configs)
	}
	if over := text.LongestLineLen(s) - t.columns; t.columns > 0 && over > 0 && len(configs) > 0 {
		last := len(configs) - 1
		width := 0
		for _, row := range append(rows[:len(rows):len(rows)], t.header) {
			if last < len(row) {
				width = max(width, text.LongestLineLen(fmt.Sprint(row[last])))
			}
		}
		if m := configs[last].WidthMax; m > 0 { // wrapped by Flush
			width = min(width, m)
		}
		if width-over >= narrowest {
			configs[last].WidthMax, configs[last].WidthMaxEnforcer = width-over, text.WrapSoft
			s = t.layOut(rows, configs)
		}
	}
	if t.flushed && len(t.header) > 0 {
		_, s, _ = strings.Cut(s, "\n") // without the header
	}
	if s != "" {
		_, _ = fmt.Fprintln(t.out, s)
	}
	return s, rows, configs
}

// narrowest is the least width to which a column is wrapped.
const narrowest = 12

func (t *Table) layOut(rows []table.Row, configs []table.ColumnConfig) string {
	w := table.NewWriter()
	w.SetStyle(table.Style{
		Name:    "plain",
		Box:     table.BoxStyle{PaddingRight: "  "},
		Format:  table.FormatOptions{Header: text.FormatUpper},
		Options: table.OptionsNoBordersAndSeparators,
	})
	w.SuppressTrailingSpaces()
	if len(t.header) > 0 {
		w.AppendHeader(t.header)
	}
	w.SetColumnConfigs(configs)
	w.AppendRows(rows)
	return w.Render()
}

var uuid = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// shortenIDs cuts the IDs in the rows to whole groups, as few as tell them apart, but not below a length.
func shortenIDs(rows []table.Row, least int) []table.Row {
	ids := make(map[string]bool)
	each := func(f func(row, column int, s string)) {
		for i, row := range rows {
			for k, cell := range row {
				if s, ok := cell.(string); ok {
					f(i, k, s)
				}
			}
		}
	}
	each(func(_, _ int, s string) {
		for _, id := range uuid.FindAllString(s, -1) {
			ids[id] = true
		}
	})
	length := 0
	for _, length = range []int{13, 18, 23, 36} {
		if length < least {
			continue
		}
		short := make(map[string]bool)
		for id := range ids {
			short[id[:length]] = true
		}
		if len(short) == len(ids) {
			break
		}
	}
	shortened := make([]table.Row, len(rows))
	for i, row := range rows {
		shortened[i] = slices.Clone(row)
	}
	each(func(row, column int, s string) {
		shortened[row][column] = uuid.ReplaceAllStringFunc(s, func(id string) string { return id[:length] })
	})
	return shortened
}

// Printable replaces control characters and those that change the direction of text.
// Names of files, arguments and reasons come from other users, and could otherwise move
// the cursor of the terminal that shows them.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// OneDay has 24 hours.
const OneDay = 24 * time.Hour

// Span formats a duration: to a tenth of a second below a minute, then to a second, and
// from a day on as D-HH:MM:SS, which ParseDuration reads.
func Span(d time.Duration) string {
	if d < time.Minute && d > -time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	d = d.Round(time.Second)
	if d < OneDay && d > -OneDay {
		return d.String()
	}
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := int64(d / time.Second)
	return fmt.Sprintf("%s%d-%02d:%02d:%02d", sign, s/86400, s/3600%24, s/60%60, s%60)
}
