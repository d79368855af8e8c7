package catalogue

import (
	"sort"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

const maxRows = 1000 // of a table

// model reads the one model of a service.
func (d *decoder) model(n *yaml.Node, path string, args []Argument) model {
	var found []model
	add := func(m model) { found = append(found, m) }
	d.mapping(n, path,
		field{"amdahl", false, func(n *yaml.Node, path string) { add(d.amdahl(n, path, args)) }},
		field{"table", false, func(n *yaml.Node, path string) { add(d.table(n, path, args)) }},
		field{"fixed", false, func(n *yaml.Node, path string) { add(d.fixed(n, path, args)) }},
	)
	if len(found) != 1 {
		if n.Kind == yaml.MappingNode {
			d.fail(n, path, "got %d models, accepted: one of amdahl, fixed, table", len(found))
		}
		return nil
	}
	return found[0]
}

func (d *decoder) amdahl(n *yaml.Node, path string, args []Argument) model {
	m := &amdahl{lo: 1, hi: batch.MaxProcessors, limit: batch.MaxProcessors}
	width := func(to *int32, least *int32) func(n *yaml.Node, path string) {
		return func(n *yaml.Node, path string) {
			*to = int32(d.integer(n, path, int64(*least), batch.MaxProcessors))
		}
	}
	one := int32(1)
	d.mapping(n, path,
		field{"work", true, func(n *yaml.Node, path string) { m.work = d.seconds(n, path, args) }},
		field{"parallel", true, func(n *yaml.Node, path string) { m.parallel = d.number(n, path, 0, 1) }},
		field{"limit", false, width(&m.limit, &one)},
		field{"min_width", false, width(&m.lo, &one)},
		field{"max_width", false, width(&m.hi, &m.lo)},
	)
	return m
}

func (d *decoder) table(n *yaml.Node, path string, args []Argument) model {
	m := &table{}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 || len(n.Content) > 2*maxRows {
		d.fail(n, path, "got %s, accepted: a mapping of 1 to %d widths to times", kindOf(n), maxRows)
		return m
	}
	type row struct {
		width int32
		time  *expression
	}
	var rows []row
	seen := make(map[int32]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], follow(n.Content[i+1])
		at := join(path, k.Value)
		mark := len(d.problems)
		w := int32(d.integer(k, at, 1, batch.MaxProcessors))
		if !d.failed(mark) && seen[w] {
			d.fail(k, at, "given twice, accepted: once")
		}
		seen[w] = true
		rows = append(rows, row{w, d.seconds(v, at, args)})
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].width < rows[j].width })
	for _, r := range rows {
		m.at, m.time = append(m.at, r.width), append(m.time, r.time)
	}
	return m
}

func (d *decoder) fixed(n *yaml.Node, path string, args []Argument) model {
	m := &fixed{}
	d.mapping(n, path,
		field{"width", true, func(n *yaml.Node, path string) {
			text, ok := d.scalar(n, path, "a width or an expression")
			if !ok {
				return
			}
			if i, err := strconv.ParseInt(text, 10, 64); err == nil {
				m.constant = int32(d.integer(n, path, 1, batch.MaxProcessors))
				text = strconv.FormatInt(i, 10)
			}
			m.width = d.formula(n, path, text, args)
		}},
		field{"time", true, func(n *yaml.Node, path string) { m.time = d.seconds(n, path, args) }},
	)
	return m
}

// seconds reads a runtime: a time with its unit, or a formula in seconds.
func (d *decoder) seconds(n *yaml.Node, path string, args []Argument) *expression {
	text, ok := d.scalar(n, path, "a time with its unit or an expression in seconds")
	if !ok {
		return nil
	}
	if t, ok := parseDuration(text); ok {
		text = strconv.FormatFloat(t.Seconds(), 'f', -1, 64)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if err := positive(f); err != nil {
			d.fail(n, path, "%v", err)
			return nil
		}
	}
	return d.formula(n, path, text, args)
}

// formula compiles an expression.
func (d *decoder) formula(n *yaml.Node, path, text string, args []Argument) *expression {
	e, err := compile(text, args)
	if err != nil {
		d.fail(n, path, "%v", err)
		return nil
	}
	return e
}

// margin reads how a walltime follows from the estimated runtime.
func (d *decoder) margin(n *yaml.Node, path string) margin {
	m := margin{factor: DefaultFactor}
	d.mapping(n, path,
		field{"factor", false, func(n *yaml.Node, path string) { m.factor = d.number(n, path, 1, 100) }},
		field{"margin", false, func(n *yaml.Node, path string) {
			text, ok := d.scalar(n, path, durationAccepted)
			if !ok {
				return
			}
			t, ok := parseDuration(text)
			if !ok || t > 24*batch.Hour {
				d.fail(n, path, "got %q, accepted: %s, at most 24h", text, durationAccepted)
			}
			m.extra = t
		}},
	)
	return m
}
