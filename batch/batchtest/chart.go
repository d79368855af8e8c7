package batchtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// chart draws a Gantt chart in text: a row for each processor, a column for
// each second. A job takes the lowest processors that are free.
type chart struct {
	taken []batch.Handle // by processor
	bars  map[batch.Handle]*bar
}

type bar struct {
	start, end batch.Time
	rows       []int
	killed     bool
}

func newChart(processors int32) chart {
	return chart{taken: make([]batch.Handle, processors), bars: map[batch.Handle]*bar{}}
}

func (c *chart) start(h batch.Handle, now batch.Time, width int32) {
	b := &bar{start: now, end: batch.Never}
	for row, by := range c.taken {
		if by == batch.NoJob && len(b.rows) < int(width) {
			b.rows = append(b.rows, row)
			c.taken[row] = h
		}
	}
	c.bars[h] = b
}

func (c *chart) end(h batch.Handle, now batch.Time, killed bool) {
	b := c.bars[h]
	b.end, b.killed = now, killed
	for _, row := range b.rows {
		c.taken[row] = batch.NoJob
	}
}

func (c *chart) jobs() []batch.Handle {
	hs := make([]batch.Handle, 0, len(c.bars))
	for h := range c.bars {
		hs = append(hs, h)
	}
	slices.Sort(hs)
	return hs
}

func (c *chart) list() string {
	var s strings.Builder
	for _, h := range c.jobs() {
		b, how := c.bars[h], ""
		if b.killed {
			how = " killed"
		}
		fmt.Fprintf(&s, "#%d %s-%s%s\n", h, seconds(b.start), seconds(b.end), how)
	}
	return s.String()
}

func (c *chart) draw() string {
	columns := 0
	for _, b := range c.bars {
		columns = max(columns, int((b.end+batch.Time(batch.Second)-1)/batch.Time(batch.Second)))
	}
	columns = min(columns, 100)
	rows := make([][]byte, len(c.taken))
	for i := range rows {
		rows[i] = []byte(strings.Repeat(".", columns))
	}
	for _, h := range c.jobs() {
		b := c.bars[h]
		for at := int(b.start / batch.Time(batch.Second)); at < columns &&
			batch.Time(at)*batch.Time(batch.Second) < b.end; at++ {
			for _, row := range b.rows {
				rows[row][at] = "0123456789abcdefghijklmnopqrstuvwxyz"[int(h)%36]
			}
		}
	}
	var s strings.Builder
	scale := []byte(strings.Repeat(" ", columns))
	for at := 0; at < columns; at += 10 {
		copy(scale[at:], strconv.Itoa(at))
	}
	fmt.Fprintf(&s, "   %s\n", strings.TrimRight(string(scale), " "))
	for i := len(rows) - 1; i >= 0; i-- {
		fmt.Fprintf(&s, "%2d %s\n", i+1, rows[i])
	}
	return s.String()
}

// seconds writes an instant in seconds, with a fraction where there is one.
func seconds(t batch.Time) string {
	if t == batch.Never {
		return "never"
	}
	return strconv.FormatFloat(float64(t)/float64(batch.Second), 'f', -1, 64)
}
