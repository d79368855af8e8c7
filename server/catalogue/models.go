package catalogue

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// amdahl is Amdahl's law with a limit: T(n) = work × ((1-P) + P/min(n, limit)).
// The paper's moldable jobs have speedups that grow up to a known number of
// processors (3.2.1, 4.2.1); beyond it they have the speedup of the limit.
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

// maxMenu bounds the widths that a model offers, and with them what a quote
// costs on a very large machine.
const maxMenu = 100_000

// candidates stops at the limit: a wider job would end no sooner and never
// starts sooner. And it stops after maxMenu widths.
func (m *amdahlMenu) candidates(dst []int32, most int32) []int32 {
	last := min(m.hi, most, max(m.limit, m.lo))
	for w := m.lo; w <= last && len(dst) < maxMenu; w++ {
		dst = append(dst, w)
	}
	return dst
}

// seconds converts explicitly after every operation, which forbids fusing them.
func (m *amdahlMenu) seconds(width int32) (float64, bool) {
	if width < m.lo || width > m.hi {
		return 0, false
	}
	share := float64(m.parallel / float64(min(width, m.limit)))
	return float64(m.work * float64(float64(1-m.parallel)+share)), true
}

func (m *amdahlMenu) accepted() string { return fmt.Sprintf("%d..%d", m.lo, m.hi) }

// table lists the widths that a service can have, with a time each.
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

// fixed is a rigid service: one width, which may follow from an argument.
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
	from  string // what of the arguments says the width; "" of none
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
		return fmt.Sprintf("%d, which its arguments say: %s", m.width, m.from)
	}
	return fmt.Sprint(m.width)
}
