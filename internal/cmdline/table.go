package cmdline

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// NewTable returns a table without lines, easy to read and to cut. The columns named in
// numbers are right-aligned. Text in its rows is made Printable.
func NewTable(w io.Writer, header table.Row, numbers ...string) table.Writer {
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
	return printableTable{t}
}

// printableTable makes the text of its rows printable.
type printableTable struct{ table.Writer }

// AppendRow is table.Writer's.
func (t printableTable) AppendRow(row table.Row, configs ...table.RowConfig) {
	shown := make(table.Row, len(row))
	for i, cell := range row {
		if s, ok := cell.(string); ok {
			cell = Printable(s)
		}
		shown[i] = cell
	}
	t.Writer.AppendRow(shown, configs...)
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
