package growth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// Growth says how a chart is made of a table: how Y grows with X, in a line for
// each combination of values that the columns By have. Rows are left out that do
// not have the values of Where.
type Growth struct {
	Title, Note    string
	XTitle, YTitle string
	X, Y           string // columns of numbers above 0
	By             []string
	Where          map[string]string
}

// Chart reads the table, a CSV file with a head line, and makes the chart. Lines
// are in the order in which the table begins them, points in the order of X; of
// rows with the same X the least Y counts, for it is the one least disturbed.
func (g *Growth) Chart(from io.Reader, file string) (*chart.Lines, error) {
	in := csv.NewReader(io.LimitReader(from, papers.MaxBytes))
	in.Comment = '#'
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, &papers.ParseError{File: file, Accepted: "a head line with the names of the columns"}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for _, c := range g.columns() {
		if _, ok := at[c]; !ok {
			return nil, &papers.ParseError{File: file, Line: 1, Value: c, Accepted: strings.Join(head, ", ")}
		}
	}
	p := &papers.Record{File: file, Columns: at}
	var lines []*growing
	for {
		p.Fields, err = in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		p.Line, _ = in.FieldPos(0)
		if g.meets(p) {
			lines = g.add(lines, p)
		}
		if p.Err != nil {
			return nil, p.Err
		}
	}
	if len(lines) == 0 {
		return nil, &papers.ParseError{File: file, Value: "no rows", Accepted: "rows that have what is asked for"}
	}
	c := &chart.Lines{Title: g.Title, Note: g.Note, XTitle: g.XTitle, YTitle: g.YTitle}
	for _, l := range lines {
		c.Lines = append(c.Lines, l.line())
	}
	return c, nil
}

// columns returns those that the table must have, in an order.
func (g *Growth) columns() []string {
	all := append([]string{g.X, g.Y}, g.By...)
	var where []string
	for c := range g.Where {
		where = append(where, c)
	}
	slices.Sort(where)
	return append(all, where...)
}

func (g *Growth) meets(p *papers.Record) bool {
	for column, value := range g.Where {
		if p.Text(column) != value {
			return false
		}
	}
	return true
}

// growing is a line under construction.
type growing struct {
	name string
	y    map[float64]float64
}

func (g *Growth) add(lines []*growing, p *papers.Record) []*growing {
	var name []string
	for _, c := range g.By {
		if v := p.Text(c); v != "" {
			name = append(name, v)
		}
	}
	x, y := p.Positive(g.X), p.Positive(g.Y)
	key := strings.Join(name, ", ")
	i := slices.IndexFunc(lines, func(l *growing) bool { return l.name == key })
	if i < 0 {
		i = len(lines)
		lines = append(lines, &growing{name: key, y: map[float64]float64{}})
	}
	if before, ok := lines[i].y[x]; !ok || y < before {
		lines[i].y[x] = y
	}
	return lines
}

func (l *growing) line() chart.Line {
	out := chart.Line{Name: l.name}
	for x := range l.y {
		out.X = append(out.X, x)
	}
	slices.Sort(out.X)
	for _, x := range out.X {
		out.Y = append(out.Y, l.y[x])
	}
	return out
}
