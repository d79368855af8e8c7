package catalogue

import (
	"fmt"
	"sort"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

// model is a performance model: the runtime of a service by width.
type model interface {
	// name returns the model's name in the catalogue file.
	name() string
	// evaluate computes the part that depends only on the arguments.
	evaluate(v Values) (menu, *ModelError)
	// widths returns the range of widths that holds for any arguments, and whether
	// the site chooses among them.
	widths() (lo, hi int32, moldable bool)
}

// menu is a model for one request's arguments.
type menu interface {
	// candidates appends the widths to offer on a machine with at most that many
	// processors, ascending.
	candidates(dst []int32, most int32) []int32
	// seconds returns the runtime in seconds at speed 1.0; false for a width that the
	// model does not have.
	seconds(width int32) (float64, bool)
	// accepted describes the widths for which seconds returns true.
	accepted() string
}

// amdahl is Amdahl's law with a limit: T(n) = work × ((1-P) + P/min(n, limit)).
// In the paper, the speedup of a moldable job grows up to a known number of processors
// (3.2.1, 4.2.1) and stays constant beyond it.
type amdahl struct {
	work     *expression
	parallel float64 // P
	limit    int32
	lo, hi   int32
}

func (m *amdahl) name() string { return "amdahl" }

func (m *amdahl) widths() (int32, int32, bool) { return m.lo, m.hi, m.lo < m.hi }

func (m *amdahl) evaluate(v Values) (menu, *ModelError) {
	work, err := m.work.eval(v)
	if err == nil {
		err = positive(work)
	}
	if err != nil {
		return nil, &ModelError{Field: "work", Err: err}
	}
	return &amdahlMenu{amdahl: m, work: work}, nil
}

type amdahlMenu struct {
	*amdahl
	work float64 // seconds on one processor
}

// maxMenu bounds the widths that a model offers, and so the cost of a quote on a very
// large machine.
const maxMenu = 100_000

// candidates stops at the limit, because a wider job neither runs faster nor starts
// sooner, and after maxMenu widths.
func (m *amdahlMenu) candidates(dst []int32, most int32) []int32 {
	last := min(m.hi, most, max(m.limit, m.lo))
	for w := m.lo; w <= last && len(dst) < maxMenu; w++ {
		dst = append(dst, w)
	}
	return dst
}

// seconds converts explicitly after every operation, which forbids fusing operations.
func (m *amdahlMenu) seconds(width int32) (float64, bool) {
	if width < m.lo || width > m.hi {
		return 0, false
	}
	share := float64(m.parallel / float64(min(width, m.limit)))
	return float64(m.work * float64(float64(1-m.parallel)+share)), true
}

func (m *amdahlMenu) accepted() string { return fmt.Sprintf("%d..%d", m.lo, m.hi) }

// table lists the widths of a service with a time for each.
type table struct {
	at   []int32 // ascending
	time []*expression
}

func (m *table) name() string { return "table" }

func (m *table) widths() (int32, int32, bool) { return m.at[0], m.at[len(m.at)-1], len(m.at) > 1 }

func (m *table) evaluate(v Values) (menu, *ModelError) {
	rows := &tableMenu{table: m, times: make([]float64, len(m.time))}
	for i, e := range m.time {
		t, err := e.eval(v)
		if err == nil {
			err = positive(t)
		}
		if err != nil {
			return nil, &ModelError{Field: fmt.Sprint(m.at[i]), Err: err}
		}
		rows.times[i] = t
	}
	return rows, nil
}

type tableMenu struct {
	*table
	times []float64
}

func (m *tableMenu) candidates(dst []int32, most int32) []int32 {
	for _, w := range m.at {
		if w <= most {
			dst = append(dst, w)
		}
	}
	return dst
}

func (m *tableMenu) seconds(width int32) (float64, bool) {
	for i, w := range m.at {
		if w == width {
			return m.times[i], true
		}
	}
	return 0, false
}

func (m *tableMenu) accepted() string { return joinWidths(m.at) }

// fixed is the model of a rigid service: one width, which can depend on arguments.
type fixed struct {
	width, time *expression
	constant    int32 // the width when it depends on no argument, else 0
}

func (m *fixed) name() string { return "fixed" }

func (m *fixed) widths() (int32, int32, bool) {
	if m.constant > 0 {
		return m.constant, m.constant, false
	}
	return 1, batch.MaxProcessors, false
}

func (m *fixed) evaluate(v Values) (menu, *ModelError) {
	w, err := m.width.eval(v)
	if err == nil && !(w >= 1 && w <= batch.MaxProcessors && w == float64(int32(w))) {
		err = fmt.Errorf("got %v, accepted: an integer, 1..%d", w, batch.MaxProcessors)
	}
	if err != nil {
		return nil, &ModelError{Field: "width", Err: err}
	}
	t, err := m.time.eval(v)
	if err == nil {
		err = positive(t)
	}
	if err != nil {
		return nil, &ModelError{Field: "time", Err: err}
	}
	menu := &fixedMenu{width: int32(w), time: t}
	if m.constant == 0 {
		menu.from = m.width.source
		if _, is := v.Get(menu.from); is {
			menu.from += "="
		}
	}
	return menu, nil
}

type fixedMenu struct {
	width int32
	time  float64
	from  string // the argument or formula that sets the width; "" for a constant
}

func (m *fixedMenu) candidates(dst []int32, most int32) []int32 {
	if m.width <= most {
		dst = append(dst, m.width)
	}
	return dst
}

func (m *fixedMenu) seconds(width int32) (float64, bool) { return m.time, width == m.width }

func (m *fixedMenu) accepted() string {
	if m.from != "" {
		return fmt.Sprintf("%d, set by its arguments: %s", m.width, m.from)
	}
	return fmt.Sprint(m.width)
}

const maxRows = 1000 // of a table

// model decodes the model of a service, of which it needs exactly one.
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

// seconds decodes a runtime: a time with its unit, or a formula in seconds.
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

// formula compiles an expression and records its problem.
func (d *decoder) formula(n *yaml.Node, path, text string, args []Argument) *expression {
	e, err := compile(text, args)
	if err != nil {
		d.fail(n, path, "%v", err)
		return nil
	}
	return e
}

// margin decodes how a walltime follows from the estimated runtime.
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
