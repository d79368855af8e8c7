package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/growth"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// reproGrowthCmd is drover-lab repro growth.
type reproGrowthCmd struct {
	Rows   string            `arg:"" placeholder:"FILE" help:"A CSV file with a head line."`
	X      string            `default:"jobs" placeholder:"COLUMN" help:"The column of the horizontal axis."`
	Y      string            `default:"seconds" placeholder:"COLUMN" help:"The column of the vertical axis."`
	By     []string          `placeholder:"COLUMN" help:"Draw a line for each combination of values of these columns."`
	Where  map[string]string `placeholder:"COLUMN=VALUE" help:"Only rows with these values; repeatable."`
	Title  string            `default:"Growth" placeholder:"TEXT" help:"Heading of the chart."`
	Note   string            `placeholder:"TEXT" help:"Text below the heading."`
	XTitle string            `name:"x-title" placeholder:"TEXT" help:"Title of the horizontal axis, with its unit. Default: the column's name."`
	YTitle string            `name:"y-title" placeholder:"TEXT" help:"Title of the vertical axis."`
	Out    string            `short:"o" default:"growth" placeholder:"PATH" help:"Write PATH.svg and PATH.png."`
}

// Run draws the chart.
func (c *reproGrowthCmd) Run(a *app) error {
	g := &growth.Growth{
		Title: c.Title, Note: c.Note, XTitle: c.XTitle, YTitle: c.YTitle, X: c.X, Y: c.Y, By: c.By, Where: c.Where,
	}
	if g.XTitle == "" {
		g.XTitle = g.X
	}
	if g.YTitle == "" {
		g.YTitle = g.Y
	}
	file, err := os.Open(c.Rows)
	if err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	defer file.Close()
	lines, err := g.Chart(file, c.Rows)
	if err != nil {
		return err
	}
	if len(lines.Lines) > chart.MaxLines {
		return &cmdline.UsageError{
			Message: fmt.Sprintf("%d lines, accepted: at most %d", len(lines.Lines),
				chart.MaxLines), Hint: "--where leaves rows out, as --where algorithm=regular, and --by makes fewer " +
				"lines of fewer columns",
		}
	}
	path := strings.TrimSuffix(strings.TrimSuffix(c.Out, ".svg"), ".png")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for suffix, draw := range map[string]func(chart.Chart) ([]byte, error){".svg": chart.SVG, ".png": chart.PNG} {
		data, err := draw(lines)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path+suffix, data, 0o644); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	_, err = fmt.Fprintf(a.Stdout, "%s.svg, %s.png\n", path, path)
	return err
}
