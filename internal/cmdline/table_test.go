package cmdline

import (
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
)

// terminal is a writer that is so many columns wide.
type terminal struct {
	io.Writer
	columns int
}

func (t terminal) Columns() int { return t.columns }

func TestTableFitsTheTerminal(t *testing.T) {
	const first, second = "01a20553-07f8-75ce-97f6-3fc88c8b43e7", "01a20553-0837-7583-aded-868505ea808c"
	for columns, want := range map[int]string{
		0: `
JOB                                   SERVICE  WIDTH  NOTE
01a20553-07f8-75ce-97f6-3fc88c8b43e7  sleep        1
01a20553-0837-7583-aded-868505ea808c  lu          12  waits for 01a20553-07f8-75ce-97f6-3fc88c8b43e7
`,
		90: `
JOB            SERVICE  WIDTH  NOTE
01a20553-07f8  sleep        1
01a20553-0837  lu          12  waits for 01a20553-07f8
`,
		50: `
JOB            WIDTH  NOTE
01a20553-07f8      1
01a20553-0837     12  waits for 01a20553-07f8
`,
		35: `
JOB            WIDTH  NOTE
01a20553-07f8      1
01a20553-0837     12  waits for
                      01a20553-07f8
`,
	} {
		var b strings.Builder
		tb := NewTable(terminal{&b, columns}, table.Row{"job", "service", "width", "note"}, "width")
		tb.ShortIDs()
		tb.Optional("service")
		tb.AppendRow(table.Row{first, "sleep", 1, ""})
		tb.AppendRow(table.Row{second, "lu", 12, "waits for " + first})
		if s := tb.Render(); "\n"+b.String() != want || s+"\n" != b.String() {
			t.Errorf("%d columns:%s", columns, "\n"+b.String())
		}
	}
}

func TestShortenedIDsDiffer(t *testing.T) {
	var b strings.Builder
	tb := NewTable(terminal{&b, 30}, table.Row{"job", "note"})
	tb.ShortIDs()
	tb.AppendRow(table.Row{"01a20553-07f8-75ce-97f6-3fc88c8b43e7", "a"})
	tb.AppendRow(table.Row{"01a20553-07f8-75cf-97f6-3fc88c8b43e7", "b"})
	want := "JOB                 NOTE\n01a20553-07f8-75ce  a\n01a20553-07f8-75cf  b"
	if tb.Render() != want {
		t.Errorf("%s", b.String())
	}
}

func TestTextInTablesIsPrintable(t *testing.T) {
	tb := NewTable(io.Discard, table.Row{"note"})
	tb.AppendRow(table.Row{"a\x1b[2Jb"})
	if s := tb.Render(); strings.ContainsRune(s, '\x1b') {
		t.Errorf("%q", s)
	}
}

// A list that arrives in parts has one header, and columns that only grow.
func TestFlushedTablesContinueUnderOneHeader(t *testing.T) {
	const id = "01a20553-07f8-75ce-97f6-3fc88c8b43e7"
	for columns, want := range map[int]string{
		0: `
JOB                                   WIDTH  NOTE
01a20553-07f8-75ce-97f6-3fc88c8b43e7      1  a
b                                         2  b
c                                     12345678  c
d                                            9  d
`,
		40: `
JOB                      WIDTH  NOTE
01a20553-07f8-75ce-97f6      1  a
b                            2  b
c                        12345678  c
d                               9  d
`,
	} {
		var b strings.Builder
		tb := NewTable(terminal{&b, columns}, table.Row{"job", "width", "note"}, "width")
		tb.ShortIDs()
		tb.Flush()
		tb.AppendRow(table.Row{id, 1, "a"})
		tb.Flush()
		tb.AppendRow(table.Row{"b", 2, "b"})
		tb.Flush()
		tb.Flush()
		tb.AppendRow(table.Row{"c", 12345678, "c"})
		tb.Flush()
		tb.AppendRow(table.Row{"d", 9, "d"})
		tb.Render()
		if "\n"+b.String() != want {
			t.Errorf("%d columns:%s", columns, "\n"+b.String())
		}
	}
}
