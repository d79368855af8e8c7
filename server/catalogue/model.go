package catalogue

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
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
			menu.from = "argument " + menu.from
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
		return fmt.Sprintf("%d, set by %s", m.width, m.from)
	}
	return fmt.Sprint(m.width)
}

const maxRows = 1000 // of a table

// model decodes the model of a service, of which it needs exactly one.
func (d *decoder) model(v config.Value, args []Argument) model {
	var in struct {
		Amdahl config.Value `yaml:"amdahl"`
		Table  config.Value `yaml:"table"`
		Fixed  config.Value `yaml:"fixed"`
	}
	if !d.fit(v, &in) {
		return nil
	}
	var found []model
	if in.Amdahl.Given() {
		found = append(found, d.amdahl(in.Amdahl, args))
	}
	if in.Table.Given() {
		found = append(found, d.table(in.Table, args))
	}
	if in.Fixed.Given() {
		found = append(found, d.fixed(in.Fixed, args))
	}
	if len(found) != 1 {
		d.fail(v, "got %d models, accepted: one of amdahl, fixed, table", len(found))
		return nil
	}
	return found[0]
}

func (d *decoder) amdahl(v config.Value, args []Argument) model {
	var in struct {
		Work     config.Value `yaml:"work,required"`
		Parallel config.Value `yaml:"parallel,required"`
		Limit    config.Value `yaml:"limit"`
		MinWidth config.Value `yaml:"min_width"`
		MaxWidth config.Value `yaml:"max_width"`
	}
	d.fit(v, &in)
	m := &amdahl{work: d.seconds(in.Work, args), parallel: d.number(in.Parallel, 0, 1, 0)}
	m.limit = d.width(in.Limit, 1, batch.MaxProcessors)
	m.lo = d.width(in.MinWidth, 1, 1)
	m.hi = d.width(in.MaxWidth, m.lo, batch.MaxProcessors)
	return m
}

func (d *decoder) width(v config.Value, least, absent int32) int32 {
	return int32(d.integer(v, int64(least), batch.MaxProcessors, int64(absent)))
}

func (d *decoder) table(v config.Value, args []Argument) model {
	m := &table{}
	entries, _ := v.Entries()
	if len(entries) == 0 || len(entries) > maxRows {
		d.fail(v, "got %v, accepted: a mapping of 1 to %d widths to times", v, maxRows)
		return m
	}
	type row struct {
		width int32
		time  *expression
	}
	var rows []row
	seen := make(map[int32]bool)
	for _, e := range entries {
		w := d.width(e.Name, 1, 0)
		if w > 0 && seen[w] {
			d.fail(e.Name, "given twice, accepted: once")
		}
		seen[w] = true
		rows = append(rows, row{w, d.seconds(e.Value, args)})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return int(a.width - b.width) })
	for _, r := range rows {
		m.at, m.time = append(m.at, r.width), append(m.time, r.time)
	}
	return m
}

func (d *decoder) fixed(v config.Value, args []Argument) model {
	var in struct {
		Width config.Value `yaml:"width,required"`
		Time  config.Value `yaml:"time,required"`
	}
	d.fit(v, &in)
	m := &fixed{}
	if text, ok := d.scalar(in.Width, "a width or an expression"); ok {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			m.constant = d.width(in.Width, 1, 1)
			text = strconv.FormatInt(i, 10)
		}
		m.width = d.formula(in.Width, text, args)
	}
	m.time = d.seconds(in.Time, args)
	return m
}

// seconds decodes a runtime: a time with its unit, or a formula in seconds.
func (d *decoder) seconds(v config.Value, args []Argument) *expression {
	text, ok := d.scalar(v, "a time with its unit or an expression in seconds")
	if !ok {
		return nil
	}
	if t, ok := parseDuration(text); ok {
		text = strconv.FormatFloat(t.Seconds(), 'f', -1, 64)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if err := positive(f); err != nil {
			d.fail(v, "%v", err)
			return nil
		}
	}
	return d.formula(v, text, args)
}

// formula compiles an expression and records its problem.
func (d *decoder) formula(v config.Value, text string, args []Argument) *expression {
	e, err := compile(text, args)
	if err != nil {
		d.fail(v, "%v", err)
		return nil
	}
	return e
}

// margin decodes how a walltime follows from the estimated runtime.
func (d *decoder) margin(v config.Value) margin {
	var in struct {
		Factor config.Value `yaml:"factor"`
		Margin config.Value `yaml:"margin"`
	}
	d.fit(v, &in)
	return margin{
		factor: d.number(in.Factor, 1, 100, DefaultFactor),
		extra:  d.duration(in.Margin, 0, 24*batch.Hour, 0),
	}
}
