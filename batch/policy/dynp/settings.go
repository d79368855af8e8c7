package dynp

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

const name = "dynp"

// config is the parsed settings.
type config struct {
	policies  []string
	orders    []order
	decider   decider
	objective objective
	half      bool
	equal     uint64 // millionths
	pause     batch.Duration
	shared    bool // one list for all policies
}

// million is the finest step of the setting equal.
const million = 1_000_000

// parser reads settings; it keeps all errors.
type parser struct {
	settings batch.Settings
	errs     []error
}

func parse(s batch.Settings) (*config, error) {
	p, c := &parser{settings: s}, &config{}
	if err := s.Only(name, "decider", "equal", "list", "metric", "pause", "policies", "tuning"); err != nil {
		p.errs = append(p.errs, err)
	}
	p.policies(c)
	p.decider(c)
	p.metric(c)
	c.half = p.choice("tuning", "full", "half") == 1
	c.shared = p.choice("list", "own", "shared") == 1
	p.equal(c)
	p.pause(c)
	if len(p.errs) == 0 && c.shared {
		p.sortable(c)
	}
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// text returns a setting, or its default.
func (p *parser) text(key, otherwise string) string {
	if v, ok := p.settings[key]; ok {
		return v
	}
	return otherwise
}

func (p *parser) refuse(key, accepted string) {
	value := p.settings[key]
	if value == "" { // in a SettingError an empty value means an unknown key
		value = " "
	}
	p.errs = append(p.errs, &batch.SettingError{Policy: name, Key: key, Value: value, Accepted: accepted})
}

// choice returns the index of a setting's value among the accepted ones; the first is the
// default.
func (p *parser) choice(key string, accepted ...string) int {
	v := p.text(key, accepted[0])
	for i := range accepted {
		if v == accepted[i] {
			return i
		}
	}
	p.refuse(key, strings.Join(accepted, ", "))
	return 0
}

func (p *parser) policies(c *config) {
	accepted := "1 to " + strconv.Itoa(MaxPolicies) + " of " + strings.Join(Orders(), ", ") + ", each once"
	c.policies = strings.Split(p.text("policies", "FCFS,SJF,LJF"), ",")
	if len(c.policies) > MaxPolicies {
		p.refuse("policies", accepted)
		return
	}
	for i, n := range c.policies {
		o, ok := orders[n]
		if !ok || c.index(n) < i {
			p.refuse("policies", accepted)
			c.policies = Orders() // any may be meant by other settings
			return
		}
		c.orders = append(c.orders, o)
	}
}

// index returns the position of a policy in the list, or the length of the list.
func (c *config) index(policy string) int {
	for i, n := range c.policies {
		if n == policy {
			return i
		}
	}
	return len(c.policies)
}

func (p *parser) decider(c *config) {
	v := p.text("decider", "advanced")
	of, prefers := strings.CutPrefix(v, "preferred:")
	switch {
	case v == "simple":
		c.decider = decider{kind: simple}
	case v == "advanced":
		c.decider = decider{kind: advanced}
	case prefers && c.index(of) < len(c.policies):
		c.decider = decider{preferred, c.index(of)}
	default:
		p.refuse("decider", "simple, advanced, or preferred: with one of "+strings.Join(c.policies, ", "))
	}
}

// metric reads "SLDwA", or "makespan:20,ARTwW:80".
func (p *parser) metric(c *config) {
	accepted := "one of " + strings.Join(Metrics(), ", ") + ", or several with whole percents that add up to 100, as " +
		"makespan:20,ARTwW:80"
	left := uint64(100)
	parts := strings.Split(p.text("metric", "SLDwA"), ",")
	for _, part := range parts {
		n, share, weighs := strings.Cut(part, ":")
		m, percent := metrics[n], uint64(100)
		if weighs {
			percent, _ = strconv.ParseUint(share, 10, 8) // 0 is refused, too
		}
		if m == nil || percent < 1 || percent > left || c.objective.has(n) || weighs != (len(parts) > 1) {
			p.refuse("metric", accepted)
			return
		}
		left -= percent
		c.objective = append(c.objective, weighted{n, m, percent})
	}
	if left != 0 {
		p.refuse("metric", accepted)
	}
}

func (o objective) has(metric string) bool {
	for i := range o {
		if o[i].name == metric {
			return true
		}
	}
	return false
}

func (p *parser) equal(c *config) {
	v := p.text("equal", "0")
	whole, digits, _ := strings.Cut(v, ".")
	n, err := strconv.ParseUint(whole+(digits + "000000")[:max(6, len(digits))], 10, 32)
	if err != nil || whole == "" || len(digits) > 6 || n > million {
		p.refuse("equal", "0 to 1, with at most six decimals")
		return
	}
	c.equal = n
}

func (p *parser) pause(c *config) {
	d, err := time.ParseDuration(p.text("pause", "0s"))
	if err != nil || d < 0 {
		p.refuse("pause", "a length of time with its unit, as 1h or 0s")
		return
	}
	c.pause = batch.Duration(d / time.Microsecond)
}

// sortable refuses a shared list for policies for which it makes no sense.
func (p *parser) sortable(c *config) {
	if c.index("FCFS") == len(c.policies) {
		p.refuse("list", "shared with FCFS among the policies, or own")
	}
}
