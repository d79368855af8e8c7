package papers

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// table is written as CSV, and as Markdown.
type table struct {
	head []string
	text int // so many columns are words; the others are numbers, and end in line
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) csv() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.Write(t.head); err != nil {
		return nil, err
	}
	if err := w.WriteAll(t.rows); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// cells keeps what is written in a cell inside it.
var cells = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ")

func (t *table) markdown() string {
	var b strings.Builder
	line := func(row []string) {
		for _, c := range row {
			b.WriteString("| " + cells.Replace(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.head)
	for i := range t.head {
		if i < t.text {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
	return b.String()
}

// exact writes a number so that it is read back as the same.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func count(n int) string { return strconv.Itoa(n) }

// show writes a value of the metric as people read it.
func (m *metric) show(v float64) string {
	if m.scale == chart.Percent {
		return percent(v)
	}
	return ratio(v)
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

func ratio(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
