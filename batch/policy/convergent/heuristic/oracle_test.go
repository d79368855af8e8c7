package heuristic

import (
	"math/big"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// oracle computes the updates of section 4.1 by the paper's formulas, in exact fractions, for
// one job and machine at a time.
type oracle struct {
	s *farm.State
	c Constants
}

func rat(n int64) *big.Rat         { return new(big.Rat).SetInt64(n) }
func constant(c Constant) *big.Rat { return big.NewRat(int64(c), int64(One)) }
func add(a, b *big.Rat) *big.Rat   { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat   { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat   { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat   { return new(big.Rat).Quo(a, b) }
func (o oracle) affine(i int) []int32 { // M_Aff
	var list []int32
	for m := range o.s.Machines {
		if o.s.Eligible(&o.s.Jobs[i], int32(m)) {
			list = append(list, int32(m))
		}
	}
	return list
}

// nxtime is Estimated · (1 - Progress) · BM of the estimate / BM of the machine.
func (o oracle) nxtime(i int, m int32) *big.Rat {
	j := &o.s.Jobs[i]
	rest := rat(int64(max(j.Estimate-j.Done, 1)))
	if j.Reference == 0 {
		return rest
	}
	return quo(mul(rest, rat(int64(j.Reference))), rat(int64(o.s.Machines[m].Score)))
}

func (o oracle) f1(i int, m int32) *big.Rat {
	j := &o.s.Jobs[i]
	low, high, k := constant(o.c.DeadlineMin), constant(o.c.DeadlineMax), constant(o.c.DeadlineK)
	if j.Deadline == 0 {
		return low
	}
	nx := o.nxtime(i, m)
	ex := add(rat(int64(o.s.Now)), nx)
	deadline := rat(int64(j.Deadline))
	t := sub(deadline, mul(k, nx))
	if ex.Cmp(t) <= 0 || ex.Cmp(deadline) > 0 {
		return low
	}
	slope := quo(sub(high, low), sub(deadline, t)) // the line through (t, Min) and (Deadline, Max)
	return add(mul(slope, sub(ex, t)), low)
}

func (o oracle) deadline(i int) map[int32]*big.Rat {
	sum, d := rat(0), rat(0)
	list := o.affine(i)
	for _, m := range list {
		sum = add(sum, o.f1(i, m))
		d = add(d, sub(constant(o.c.DeadlineMax), o.f1(i, m)))
	}
	update := map[int32]*big.Rat{}
	for _, m := range list {
		if d.Sign() == 0 {
			update[m] = quo(sum, rat(int64(len(list))))
			continue
		}
		update[m] = quo(mul(sum, sub(constant(o.c.DeadlineMax), o.f1(i, m))), d)
	}
	return update
}

func (o oracle) rho(l int32) *big.Rat {
	demand := int64(0)
	for i := range o.s.Jobs {
		if len(o.affine(i)) == 0 {
			continue
		}
		for _, n := range o.s.Jobs[i].Licenses {
			if n.License == l {
				demand += int64(n.Copies)
			}
		}
	}
	if demand == 0 {
		return rat(0)
	}
	offer := int64(o.s.Licenses[l].Copies)
	if o.s.Licenses[l].Bound {
		has := int64(0)
		for _, m := range o.s.Machines {
			if !m.Down && m.Licenses.Has(l) {
				has++
			}
		}
		offer *= has
	}
	return big.NewRat(demand, offer)
}

func (o oracle) w(i int) *big.Rat {
	critical, others := rat(0), rat(0)
	for _, n := range o.s.Jobs[i].Licenses {
		if rho := o.rho(n.License); rho.Cmp(rat(1)) > 0 {
			critical = add(critical, rho)
		} else {
			others = add(others, rho)
		}
	}
	return add(mul(rat(int64(len(o.s.Licenses))), critical), others)
}

func (o oracle) licenses(i int) map[int32]*big.Rat {
	most := rat(0)
	for k := range o.s.Jobs {
		if w := o.w(k); len(o.affine(k)) > 0 && w.Cmp(most) > 0 {
			most = w
		}
	}
	update := map[int32]*big.Rat{}
	for _, m := range o.affine(i) {
		update[m] = rat(0)
		if most.Sign() > 0 {
			update[m] = mul(constant(o.c.Licenses), quo(o.w(i), most))
		}
	}
	return update
}

func (o oracle) transf(i int, m int32) *big.Rat {
	t := rat(0)
	for _, in := range o.s.Jobs[i].Input {
		if in.Place == m {
			continue
		}
		rate := int64(1)
		if l := o.s.Links; l != nil {
			rate = l.Rate
			if int(in.Place) < len(l.Rates) && l.Rates[in.Place] != nil {
				rate = l.Rates[in.Place][m]
			}
		}
		t = add(t, big.NewRat(in.Bytes, rate))
	}
	return t
}

func (o oracle) input(i int) map[int32]*big.Rat {
	sum := rat(0)
	for _, m := range o.affine(i) {
		sum = add(sum, o.transf(i, m))
	}
	update := map[int32]*big.Rat{}
	for _, m := range o.affine(i) {
		share := rat(0)
		if sum.Sign() > 0 {
			share = quo(o.transf(i, m), sum)
		}
		update[m] = mul(constant(o.c.Input), sub(rat(1), share))
	}
	return update
}

func (o oracle) wait(i int) map[int32]*big.Rat {
	sup := rat(0)
	for k := range o.s.Jobs {
		if o.c.WaitPerJob && k != i {
			continue
		}
		for _, m := range o.affine(k) {
			if nx := o.nxtime(k, m); nx.Cmp(sup) > 0 {
				sup = nx
			}
		}
	}
	update := map[int32]*big.Rat{}
	for _, m := range o.affine(i) {
		update[m] = mul(constant(o.c.Wait), sub(rat(1), quo(o.nxtime(i, m), sup)))
	}
	return update
}

func (o oracle) overhead(i int) map[int32]*big.Rat {
	update := map[int32]*big.Rat{}
	for _, m := range o.affine(i) {
		update[m] = rat(0)
		if m == o.s.Jobs[i].Last {
			update[m] = constant(o.c.Overhead)
		}
	}
	return update
}

func (o oracle) aging(i int) map[int32]*big.Rat {
	age := max(0, int64(o.s.Now-o.s.Jobs[i].Submit))
	update := map[int32]*big.Rat{}
	for _, m := range o.affine(i) {
		update[m] = mul(constant(o.c.Aging), big.NewRat(age, int64(o.c.AgingUnit)))
	}
	return update
}
