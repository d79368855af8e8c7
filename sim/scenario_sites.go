package sim

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/sim/lublin"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// GridSite is one site of a scenario.
type GridSite struct {
	Name  string `yaml:"name"`
	Trace string `yaml:"trace"` // SWF, gz too: a path from the scenario's folder, or a name among the traces; "" for none
	// Lublin makes the site's jobs, in place of a trace.
	Lublin *Lublin `yaml:"lublin"`
	// From and Length cut a part out of the trace: the jobs submitted from so long
	// after its first submission, for so long; "" and "" is all of it.
	From     string         `yaml:"from"`
	Length   string         `yaml:"length"`
	Procs    int64          `yaml:"procs"`
	Speed    string         `yaml:"speed"` // "1.0" by default
	Policy   string         `yaml:"policy"`
	Settings batch.Settings `yaml:"settings"`
	Local    bool           `yaml:"local"` // the jobs of its trace are those of local users, who do not ask the grid
}

// LocalUsers are those who submit to the batch systems of their own sites.
type LocalUsers struct {
	// Share of the jobs, drawn by the seed, as "2/3".
	Share string `yaml:"share"`
}

// Lublin is a made workload of the model of Lublin and Feitelson, for a machine as
// wide as its site.
type Lublin struct {
	Jobs int `yaml:"jobs"`
	// Span is the time in which they are submitted; "" leaves it to the model.
	Span      string `yaml:"span"`
	Seed      uint64 `yaml:"seed"`
	Classes   string `yaml:"classes"`   // undivided (default), divided, batch, interactive
	Estimates string `yaml:"estimates"` // exact (default), factor:F, uniform:F
}

// config returns the model's configuration without the load that the span asks
// for, and the span.
func (l *Lublin) config(procs int64) (lublin.Config, batch.Duration, error) {
	c := lublin.Config{Jobs: l.Jobs, Procs: int(procs), Seed: l.Seed}
	if l.Jobs < 1 || l.Jobs > lublin.MaxJobs {
		return c, 0, fmt.Errorf("jobs: %d, accepted: 1..%d", l.Jobs, lublin.MaxJobs)
	}
	var err error
	if l.Classes != "" {
		if c.Classes, err = lublin.ParseClasses(l.Classes); err != nil {
			return c, 0, err
		}
	}
	if l.Estimates != "" {
		if c.Estimates, err = lublin.ParseEstimates(l.Estimates); err != nil {
			return c, 0, err
		}
	}
	span, err := ParseLength(l.Span)
	if err != nil {
		return c, 0, fmt.Errorf("span: %w", err)
	}
	return c, span, c.Validate()
}

// generate makes the workload. Which jobs come does not depend on the load, so
// the one that gives the span is known once they are there.
func (l *Lublin) generate(ctx context.Context, procs int64) (*swf.Trace, error) {
	c, span, err := l.config(procs)
	if err != nil {
		return nil, err
	}
	t, err := lublin.Generate(ctx, c)
	if err != nil || span == 0 {
		return t, err
	}
	var area float64 // of whole numbers far below 2^53: exact
	for i := range t.Jobs {
		area += float64(t.Jobs[i].Run) * float64(t.Jobs[i].ReqProcs)
	}
	c.Load = area / (float64(procs) * math.Ceil(span.Seconds()))
	return lublin.Generate(ctx, c)
}

// validateSites fills in defaults and returns everything that is wrong with the
// sites, each with its key.
func (s *Scenario) validateSites() []error {
	var errs []error
	bad := func(key, format string, args ...any) { errs = append(errs, fmt.Errorf(key+": "+format, args...)) }
	names := map[string]bool{}
	traces := 0
	for i := range s.Sites {
		g := &s.Sites[i]
		key := fmt.Sprintf("sites[%d].", i)
		if g.Name == "" || names[g.Name] {
			bad(key+"name", "%q, accepted: a name of its own for each site", g.Name)
		}
		names[g.Name] = true
		if g.Speed == "" {
			g.Speed = "1"
		}
		if _, err := catalogue.ParseSpeed(g.Speed); err != nil {
			errs = append(errs, fmt.Errorf("%s%w", key, err)) // it names the key
		}
		if g.Procs < 1 || g.Procs > batch.MaxProcessors {
			bad(key+"procs", "%d, accepted: 1..%d", g.Procs, batch.MaxProcessors)
		} else if policy.Of(g.Policy).Machines {
			bad(key+"policy", "%q, accepted: a policy that counts processors, not machines: %s", g.Policy,
				named(func(e *policy.Entry) bool { return !e.Machines }))
		} else if _, err := policy.New(g.Policy, batch.Processors(1), g.Settings); err != nil {
			bad(key+"policy", "%w", err)
		} else if g.Lublin != nil {
			if _, _, err := g.Lublin.config(g.Procs); err != nil {
				bad(key+"lublin", "%w", err)
			}
		}
		if g.Trace != "" || g.Lublin != nil {
			traces++
		}
		if g.Trace != "" && g.Lublin != nil {
			bad(key+"lublin", "beside a trace, accepted: one of the two")
		}
		for _, c := range []struct{ key, text string }{{"from", g.From}, {"length", g.Length}} {
			if _, err := ParseLength(c.text); err != nil {
				bad(key+c.key, "%w", err)
			} else if c.text != "" && g.Trace == "" {
				bad(key+c.key, "%q without a trace, accepted: with one", c.text)
			}
		}
		if d, err := ParseLength(g.Length); err == nil && g.Length != "" && d < batch.Second {
			bad(key+"length", "%q, accepted: at least 1s", g.Length)
		}
	}
	if traces == 0 && len(s.Sites) > 0 {
		bad("sites", "no site has a trace")
	}
	return errs
}

// day is a unit that package time does not have.
const day = 24 * batch.Hour

// maxDays keeps all lengths within what a trace can have, 317 years.
const maxDays = 115_000

// ParseLength reads a length of time, which is not negative: "30d", "30.5d", or as
// package time writes it; "" is 0. What is below a microsecond is cut off.
func ParseLength(s string) (batch.Duration, error) {
	if s == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		whole, tenths, _ := strings.Cut(days, ".")
		n, err := strconv.ParseUint(whole, 10, 32)
		var part uint64
		if err == nil && len(tenths) > 0 {
			part, err = strconv.ParseUint(tenths, 10, 8)
		}
		if err == nil && len(tenths) <= 1 && n <= maxDays {
			return batch.Duration(n)*day + batch.Duration(part)*day/10, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return batch.Duration(d / time.Microsecond), nil
	}
	return 0, fmt.Errorf("%q, accepted: a length of time with its unit, as 30d or 12h", s)
}

// Seconds writes an instant or a length of time in seconds, exactly.
func Seconds[T batch.Time | batch.Duration](t T) string {
	us := int64(t)
	const unit = int64(batch.Second)
	if us%unit == 0 {
		return strconv.FormatInt(us/unit, 10)
	}
	sign := ""
	if us < 0 {
		sign, us = "-", -us
	}
	digits := fmt.Sprintf("%06d", us%unit)
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return sign + strconv.FormatInt(us/unit, 10) + "." + digits
}

// maxFraction bounds both parts of a fraction that is read from a file.
const maxFraction = 1_000_000_000

// Fraction is an exact number from 0 to 1. The zero Fraction is 0.
type Fraction struct{ Num, Den int64 }

// PaperLocal is the share of local users' jobs on the paper's non-dedicated
// platforms.
var PaperLocal = Fraction{2, 3}

var fractionForm = regexp.MustCompile(`^[0-9]{1,10}(\.[0-9]{1,9}|/[0-9]{1,10})?$`)

// ParseFraction reads "0.8" or "2/3".
func ParseFraction(s string) (Fraction, error) {
	r := new(big.Rat)
	if fractionForm.MatchString(s) {
		if _, ok := r.SetString(s); ok && r.Cmp(big.NewRat(1, 1)) <= 0 && r.Denom().Cmp(big.NewInt(maxFraction)) <= 0 {
			return Fraction{r.Num().Int64(), r.Denom().Int64()}, nil
		}
	}
	return Fraction{}, fmt.Errorf("%q, accepted: 0 to 1, as 0.8 or 2/3", s)
}

// IsZero says whether it is 0.
func (f Fraction) IsZero() bool { return f.Num == 0 }

// String is what ParseFraction reads.
func (f Fraction) String() string {
	if f.Den <= 1 {
		return fmt.Sprint(f.Num)
	}
	return fmt.Sprintf("%d/%d", f.Num, f.Den)
}

func (f Fraction) valid() bool {
	return f.Num == 0 || f.Num > 0 && f.Num <= f.Den && f.Den <= maxFraction
}

func (f Fraction) rat() *big.Rat {
	if f.Num == 0 {
		return new(big.Rat)
	}
	return big.NewRat(f.Num, f.Den)
}

// unspanned is how many jobs a day FirstDays leaves of a made workload whose length
// only the model knows.
const unspanned = 100

// FirstDays returns a scenario that has been validated, cut to its first days: of
// each trace the first of its part, and of each made workload as many jobs as come
// in that time on average. What is shorter stays as it is.
func (s *Scenario) FirstDays(days int) *Scenario {
	out := *s
	out.Sites = slices.Clone(s.Sites)
	most, text := batch.Duration(days)*day, fmt.Sprintf("%dd", days)
	for i := range out.Sites {
		g := &out.Sites[i]
		if length, err := ParseLength(g.Length); g.Trace != "" && err == nil && (g.Length == "" || length > most) {
			g.Length = text
		}
		if g.Lublin == nil {
			continue
		}
		l := *g.Lublin
		switch span, err := ParseLength(l.Span); {
		case l.Span == "":
			l.Jobs = min(l.Jobs, unspanned*days)
		case err == nil && span > most:
			l.Jobs = max(1, int(float64(l.Jobs)*(float64(most)/float64(span))))
			l.Span = text
		}
		g.Lublin = &l
	}
	return &out
}
