package share

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// MaxStretch computes the yields that minimize the largest stretch expected a period from now,
// then the next largest, and so on (opt=max). A job with a flow time and a virtual time will
// have
//
//	stretch = (flow + period) / (virtual + yield × period)
//
// No job has less than the least yield of its Expect, where that fits. MaxStretch returns the
// jobs with a changed yield, ascending; the list is valid until the next allocation. It
// recomputes all yields, because flow times change all the time.
func (p *Pool) MaxStretch(period batch.Duration) []int32 {
	p.becomes(maxStretch)
	p.rise.period = positive(period)
	return p.allocate(true, (*Pool).riseUp)
}

// MeanStretch computes the yields with the largest sum of the inverses of those stretches
// (opt=avg of /stretch-per). Otherwise it is like MaxStretch.
func (p *Pool) MeanStretch(period batch.Duration) []int32 {
	p.becomes(meanStretch)
	p.rise.period = positive(period)
	return p.allocate(true, func(p *Pool) {
		p.number(func(_ *Pool, j *job) batch.Share { return j.least })
		p.maximize(func(p *Pool, j *job) float64 { return p.rise.period / float64(int64(j.flow)+int64(p.rise.period)) })
	})
}

func positive(period batch.Duration) float64 {
	if period < 1 {
		panic("share: period must be positive")
	}
	return float64(period)
}

// rising is the scratch memory of the filling by inverse stretch.
type rising struct {
	period   float64
	climbers []climber // by number within the component
	slopes   []slope   // by row
	turns    []turn
}

// climber is a job with a yield of slope × s - behind at the inverse stretch s, bounded by its
// lower bound and by 1.
type climber struct {
	slope, behind float64
	yield         float64 // while it does not climb
	state         state
}

type state uint8

const (
	lying    state = iota // at its lower bound
	climbing              // rises with s
	settled               // final
)

// slope is the CPU that the jobs of an overloaded node use: used + steep × s.
type slope struct {
	room, used, steep float64
	climbing          int
	full              float64 // the s at which no CPU is left, if jobs climb
}

// turn is the s at which a job starts to climb or reaches yield 1.
type turn struct {
	at  float64
	job int32
	end bool
}

// riseUp raises the inverse stretches of all jobs of the component together.
func (p *Pool) riseUp() {
	p.number(func(_ *Pool, j *job) batch.Share { return j.least })
	p.lieDown()
	f, l := &p.rise, &p.local
	for next, now := 0, 0.0; ; {
		for next < len(f.turns) && !f.due(f.turns[next]) {
			next++
		}
		row, full := f.fullest()
		if row < 0 && next == len(f.turns) {
			break
		}
		if row >= 0 && (next == len(f.turns) || full <= f.turns[next].at) {
			now = max(now, full)
			p.stop(row, now)
			continue
		}
		now = max(now, f.turns[next].at)
		if t := f.turns[next]; t.end {
			p.bend(t.job, settled, 1)
		} else {
			p.bend(t.job, climbing, 0)
		}
	}
	for i := range f.climbers {
		units := math.Floor(float64(f.climbers[i].yield*float64(batch.One)) + 1.0/256)
		l.yields[i] = min(max(l.lower[i], batch.Share(units)), batch.One)
	}
	p.settle()
}

// lieDown starts all jobs at their lower bounds.
func (p *Pool) lieDown() {
	f, l := &p.rise, &p.local
	f.climbers, f.slopes, f.turns = f.climbers[:0], f.slopes[:0], f.turns[:0]
	for i, number := range p.part.jobs {
		j := &p.jobs[number]
		flow := float64(int64(j.flow)) + f.period
		virtual := float64(int64(j.virtual))
		low := float64(l.lower[i]) / float64(batch.One)
		c := climber{slope: flow / f.period, behind: virtual / f.period, yield: low}
		if l.lower[i] == batch.One {
			c.state = settled
		} else {
			f.turns = append(f.turns,
				turn{at: (virtual + float64(low*f.period)) / flow, job: int32(i)},
				turn{at: (virtual + f.period) / flow, job: int32(i), end: true})
		}
		f.climbers = append(f.climbers, c)
	}
	slices.SortFunc(f.turns, func(a, b turn) int {
		if way := cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job)); way != 0 || a.end == b.end {
			return way
		}
		if b.end {
			return -1
		}
		return 1
	})
	for i, number := range p.part.nodes {
		n := &p.nodes[number]
		n.row = int32(i)
		f.slopes = append(f.slopes, slope{
			room: float64(p.room(n)) / float64(batch.One),
			used: float64(p.use(n, l.lower)) / (1 << 40),
		})
	}
}

// due reports whether a turn still applies.
func (f *rising) due(t turn) bool {
	if t.end {
		return f.climbers[t.job].state == climbing
	}
	return f.climbers[t.job].state == lying
}

// fullest returns the row that is full first, or -1 if none will be.
func (f *rising) fullest() (row int, at float64) {
	row = -1
	for r := range f.slopes {
		if s := &f.slopes[r]; s.climbing > 0 && (row < 0 || s.full < at) {
			row, at = r, s.full
		}
	}
	return row, at
}

// stop settles all climbing jobs of a row.
func (p *Pool) stop(row int, now float64) {
	f := &p.rise
	n := &p.nodes[p.part.nodes[row]]
	for i := range n.on {
		at := p.jobs[n.on[i].job].local
		if c := &f.climbers[at]; c.state == climbing {
			low := float64(p.local.lower[at]) / float64(batch.One)
			p.bend(at, settled, min(max(float64(c.slope*now)-c.behind, low), 1))
		}
	}
}

// bend moves a job to its next state, with a fixed yield unless it climbs, and updates its
// rows.
func (p *Pool) bend(local int32, to state, yield float64) {
	f := &p.rise
	c := &f.climbers[local]
	for _, stay := range p.jobs[p.part.jobs[local]].at {
		n := &p.nodes[stay.node]
		if !n.over {
			continue
		}
		s, cpu := &f.slopes[n.row], float64(stay.cpu)/float64(batch.One)
		if c.state == climbing {
			s.used += float64(cpu * c.behind)
			s.steep -= float64(cpu * c.slope)
			s.climbing--
		} else {
			s.used -= float64(cpu * c.yield)
		}
		if to == climbing {
			s.used -= float64(cpu * c.behind)
			s.steep += float64(cpu * c.slope)
			s.climbing++
		} else {
			s.used += float64(cpu * yield)
		}
		if s.climbing > 0 {
			s.full = (s.room - s.used) / s.steep
		} else {
			s.steep = 0
		}
	}
	c.state, c.yield = to, yield
}
