package dynp_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

// naive is dynP as in the paper: it builds every plan from scratch by trying every possible
// start, and measures it in big integers. It supports submissions and ends.
type naive struct {
	capacity int32
	policies []string
	decider  string
	metrics  []string
	percent  []int64
	equal    *big.Rat
	half     bool
	shared   bool
	pause    batch.Duration

	waiting []*waiting // by submission, or in the order of the single list
	running map[batch.Handle]rectangle
	active  string
	stepped batch.Time
	changed batch.Time // time of the last switch
	came    bool
	happens bool
	wake    batch.Time

	steps    int
	switches int
	started  map[string]int
	cases    map[string]int
}

type waiting struct {
	spec    *batch.Job
	arrival batch.Time
	place   int
	start   batch.Time
}

type rectangle struct {
	start, end batch.Time
	width      int32
}

func (n *naive) Apply(now batch.Time, ev *batch.Event) {
	n.happens = true
	switch ev.Kind {
	case batch.Submit:
		n.came = true
		n.waiting = append(n.waiting, &waiting{spec: ev.Spec, arrival: now, place: int(ev.Job)})
	case batch.Finish:
		delete(n.running, ev.Job)
	default:
		panic(ev.Kind)
	}
}

func (n *naive) Wake() batch.Time { return n.wake }

func (n *naive) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }

func (n *naive) Fork() batch.Policy { panic("naive") }

// sort sorts jobs by a policy.
func (n *naive) sort(list []*waiting, policy string) {
	if n.shared && policy == "FCFS" {
		return
	}
	area := func(w *waiting) int64 { return int64(w.spec.Shape.Width) * int64(w.spec.Shape.Walltime) }
	wall := func(w *waiting) int64 { return int64(w.spec.Shape.Walltime) }
	key := map[string]func(w *waiting) int64{
		"FCFS": func(*waiting) int64 { return 0 }, "SJF": wall, "LJF": func(w *waiting) int64 { return -wall(w) },
		"SAF": area, "LAF": func(w *waiting) int64 { return -area(w) },
		"NJF": func(w *waiting) int64 {
			return int64(w.spec.Shape.Width)
		}, "WJF": func(w *waiting) int64 { return -int64(w.spec.Shape.Width) },
	}[policy]
	slices.SortStableFunc(list, func(a, b *waiting) int {
		if c := cmp.Compare(key(a), key(b)); c != 0 || n.shared {
			return c
		}
		return cmp.Compare(a.place, b.place)
	})
}

// plan gives each job the first slot in which it fits beside all jobs before it.
func (n *naive) plan(now batch.Time, list []*waiting) {
	var taken []rectangle
	for _, r := range n.running {
		taken = append(taken, r)
	}
	fits := func(from, to batch.Time, width int32) bool {
		instants := []batch.Time{from}
		for _, r := range taken {
			if from < r.start && r.start < to {
				instants = append(instants, r.start)
			}
		}
		for _, t := range instants {
			sum := width
			for _, r := range taken {
				if r.start <= t && t < r.end {
					sum += r.width
				}
			}
			if sum > n.capacity {
				return false
			}
		}
		return true
	}
	for _, w := range list {
		earliest := max(now, w.spec.EarliestStart)
		candidates := []batch.Time{earliest}
		for _, r := range taken {
			if r.end > earliest {
				candidates = append(candidates, r.end)
			}
		}
		slices.Sort(candidates)
		for _, t := range candidates {
			end := t.Add(w.spec.Shape.Walltime)
			if fits(t, end, w.spec.Shape.Width) {
				w.start = t
				taken = append(taken, rectangle{t, end, w.spec.Shape.Width})
				break
			}
		}
	}
}

// measure computes equations 1 to 8 without factors that all plans share.
func measure(now batch.Time, list []*waiting, metric string) *big.Int {
	sum := new(big.Int)
	for _, w := range list {
		l := big.NewInt(int64(w.spec.Shape.Walltime))
		width := big.NewInt(int64(w.spec.Shape.Width))
		r := big.NewInt(int64(w.start.Add(w.spec.Shape.Walltime).Sub(w.arrival)))
		s := new(big.Int).Div(new(big.Int).Lsh(r, 20), l)
		switch metric {
		case "ART":
			sum.Add(sum, r)
		case "ARTwA":
			sum.Add(sum, r.Mul(r, l.Mul(l, width)))
		case "ARTwW", "SLDwA":
			sum.Add(sum, r.Mul(r, width))
		case "SLD":
			sum.Add(sum, s)
		case "SLDwW":
			sum.Add(sum, s.Mul(s, width))
		case "makespan":
			if end := big.NewInt(int64(w.start.Add(w.spec.Shape.Walltime).Sub(now))); end.Cmp(sum) > 0 {
				sum = end
			}
		default:
			panic(metric)
		}
	}
	return sum
}

// values returns the value of each policy's plan.
func (n *naive) values(now batch.Time) map[string]*big.Int {
	turns := slices.Clone(n.policies)
	at := slices.Index(turns, n.active)
	turns[0], turns[at] = turns[at], turns[0]
	parts := map[string][]*big.Int{}
	for _, policy := range turns {
		n.sort(n.waiting, policy)
		n.plan(now, n.waiting)
		for _, m := range n.metrics {
			parts[policy] = append(parts[policy], measure(now, n.waiting, m))
		}
	}
	values := map[string]*big.Int{}
	for _, policy := range turns {
		if len(n.metrics) == 1 {
			values[policy] = parts[policy][0]
			continue
		}
		sum := new(big.Int)
		for k := range n.metrics {
			least := parts[policy][k]
			for _, other := range parts {
				if other[k].Cmp(least) < 0 {
					least = other[k]
				}
			}
			ratio := new(big.Int).Lsh(parts[policy][k], 20)
			ratio.Div(ratio, least)
			sum.Add(sum, ratio.Mul(ratio, big.NewInt(n.percent[k])))
		}
		values[policy] = sum
	}
	return values
}

func (n *naive) step(now batch.Time) {
	n.stepped = now
	n.steps++
	values := n.values(now)
	least := values[n.active]
	for _, v := range values {
		if v.Cmp(least) < 0 {
			least = v
		}
	}
	var best []string
	for _, policy := range n.policies {
		above := new(big.Rat).SetInt(new(big.Int).Sub(values[policy], least))
		if above.Cmp(new(big.Rat).Mul(n.equal, new(big.Rat).SetInt(least))) <= 0 {
			best = append(best, policy)
		}
	}
	n.cases[n.active+" of "+strings.Join(best, "=")]++
	chosen := best[0]
	if n.decider != "simple" && slices.Contains(best, n.active) {
		chosen = n.active
	}
	if p, ok := strings.CutPrefix(n.decider, "preferred:"); ok && slices.Contains(best, p) {
		chosen = p
	}
	if chosen != n.active {
		n.changed = now
		n.switches++
	}
	n.active = chosen
}

func (n *naive) Decide(now batch.Time, out *batch.Decisions) {
	if !n.happens && now < n.wake {
		return
	}
	due := n.happens && (n.came || !n.half) && len(n.policies) > 1 && n.stepped != now &&
		(n.changed < 0 || now.Sub(n.changed) >= n.pause)
	n.happens, n.came, n.wake = false, false, batch.Never
	if len(n.waiting) == 0 {
		return
	}
	n.sort(n.waiting, n.active)
	n.plan(now, n.waiting)
	if due && slices.ContainsFunc(n.waiting, func(w *waiting) bool { return w.start > now }) {
		n.step(now)
		n.sort(n.waiting, n.active)
		n.plan(now, n.waiting)
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(w *waiting) bool {
		if w.start > now {
			n.wake = min(n.wake, w.start)
			return false
		}
		n.running[w.spec.Handle] = rectangle{now, now.Add(w.spec.Shape.Walltime), w.spec.Shape.Width}
		n.started[n.active]++
		out.Start(w.spec.Handle)
		return true
	})
}

// tuning is the part of the self-tuning that both implementations report.
type tuning struct {
	Steps, Switches int
	Active          string
	Started, Cases  map[string]int
}

func (n *naive) tuning() tuning { return tuning{n.steps, n.switches, n.active, n.started, n.cases} }

func tuningOf(p *dynp.Policy) tuning {
	t := p.Tuning()
	said := tuning{t.Steps, t.Switches, t.Active, map[string]int{}, map[string]int{}}
	for _, c := range t.Policies {
		if c.Started > 0 {
			said.Started[c.Policy] = c.Started
		}
	}
	for _, c := range t.Cases {
		said.Cases[c.Active+" of "+strings.Join(c.Best, "=")] = c.Steps
	}
	return said
}
