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

// Render writes the table and returns it. An error of the writer is the writer's to remember.
func (t *Table) Render() string {
	rows, configs := t.rows, slices.Clone(t.configs)
	s := t.layOut(rows, configs)
	if t.shortIDs && t.columns > 0 && text.LongestLineLen(s) > t.columns {
		rows = shortenIDs(rows)
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
		if width-over >= narrowest {
			configs[last].WidthMax, configs[last].WidthMaxEnforcer = width-over, text.WrapSoft
			s = t.layOut(rows, configs)
		}
	}
	if s != "" {
		_, _ = fmt.Fprintln(t.out, s)
	}
	return s
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

// shortenIDs cuts the IDs in the rows to whole groups, as few as tell them apart, but at least the
// two that hold the time of a UUIDv7.
func shortenIDs(rows []table.Row) []table.Row {
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
