package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// request is what submit, call and estimate have in common, but for the service.
type request struct {
	Args []string `arg:"" optional:"" name:"name=value" help:"Its arguments. A file is given by its path." complete:"argument"`

	Width      *int           `help:"Processors; default: what finishes first."`
	CPU        *float64       `name:"cpu" placeholder:"N" help:"Part of a processor that each task can use, above 0 and up to 1; default: 1. Only sites that share processors look at it."`
	Walltime   *time.Duration `placeholder:"D" help:"When to kill it; default: by the service's performance model."`
	Deadline   *time.Duration `placeholder:"D" help:"From now, when it has to be finished: an agreement, which a site makes only if its plan keeps it."`
	BestEffort bool           `help:"The deadline is no agreement: a site that expects to be late refuses, and that is all."`
	Value      float64        `help:"What keeping the agreement is worth, for the site's accounts."`
	Penalty    float64        `help:"What breaking it costs."`

	Checkpointable bool `help:"The job can be stopped and go on from where it was; with --deadline."`

	License    []string          `placeholder:"NAME[:N]" help:"Hold so many copies of a license while it runs, beyond those that its service needs; default: 1. Repeatable."`
	Into       string            `placeholder:"ID" help:"Run in this reservation."`
	Begin      string            `placeholder:"T" help:"When it may start at the earliest: a time from now, as 90m, or an instant, as 2026-05-01T09:00:00Z."`
	After      []string          `placeholder:"JOB" complete:"jobs" help:"Start it when this job is done: its ID or the beginning, last, all, FROM..TO; any:JOB when it has ended however it did. Repeatable."`
	Retries    int               `placeholder:"N" help:"Start it up to so many times more when it fails."`
	RetryOn    string            `placeholder:"CODES" help:"With --retries: only after these exit codes, as 1,75,100-110."`
	Site       string            `complete:"site" help:"The only site that may take it, and where it stays."`
	Keep       []string          `placeholder:"ARG[=MODE]" help:"Have data of this argument stay at the site of the job, under a handle that the job names: volatile, sticky or persistent (the default). Repeatable."`
	Owner      string            `help:"Who asks; default: USER."`
	Idempotent bool              `help:"Executing it twice does no harm."`
	RerunAfter time.Duration     `placeholder:"D" help:"Submit it anew, under a new ID, when for so long nobody can say what became of it. Needs --idempotent."`
	Label      map[string]string `help:"Words to keep with the job, key=value."`
}

// arguments returns what the client is to send to have a service executed. read makes an
// argument of its name and what was typed for it.
func (r *request) arguments(service string, now time.Time, read func(name, text string) client.Arg) ([]client.Arg, error) {
	var args []client.Arg
	if r.Width != nil {
		if *r.Width < 1 {
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--width %d, accepted: 1 or more", *r.Width), Hint: "without it the site chooses"}
		}
		args = append(args, client.Width(*r.Width))
	}
	if r.CPU != nil {
		if !(*r.CPU > 0 && *r.CPU <= 1) {
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--cpu %g, accepted: above 0 and up to 1", *r.CPU), Hint: "it is what each task can use of one processor; --width says how many there are"}
		}
		args = append(args, client.CPU(*r.CPU))
	}
	for _, a := range r.Args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, &cmdline.UsageError{
				Message: fmt.Sprintf("argument %q, accepted: name=value", a),
				Hint:    fmt.Sprintf("drover services %s lists the arguments", service),
			}
		}
		args = append(args, read(name, value))
	}
	for _, d := range []struct {
		flag  string
		given *time.Duration
		arg   func(time.Duration) client.Arg
	}{
		{"walltime", r.Walltime, client.Walltime},
		{"deadline", r.Deadline, func(d time.Duration) client.Arg { return r.until(now.Add(d)) }},
	} {
		if d.given == nil {
			continue
		}
		if *d.given <= 0 {
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--%s %v, accepted: above 0s", d.flag, *d.given)}
		}
		args = append(args, d.arg(*d.given))
	}
	switch {
	case r.Deadline == nil && (r.BestEffort || r.Value != 0 || r.Penalty != 0 || r.Checkpointable):
		return nil, &cmdline.UsageError{Message: "--best-effort, --value, --penalty and --checkpointable need --deadline"}
	case r.BestEffort && (r.Value != 0 || r.Penalty != 0 || r.Checkpointable):
		return nil, &cmdline.UsageError{Message: "--best-effort makes no agreement, accepted: without --value, --penalty and --checkpointable"}
	case !(r.Value >= 0):
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--value %g, accepted: 0 or more", r.Value)}
	case !(r.Penalty >= 0):
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--penalty %g, accepted: 0 or more", r.Penalty)}
	}
	order, err := r.order(now)
	if err != nil {
		return nil, err
	}
	kept, err := toKeep(r.Keep)
	if err != nil {
		return nil, err
	}
	held, err := toHold(r.License)
	if err != nil {
		return nil, err
	}
	args = append(append(append(args, order...), kept...), held...)
	if r.Into != "" {
		args = append(args, client.Into(r.Into))
	}
	if r.Owner != "" {
		args = append(args, client.Owner(r.Owner))
	}
	if r.Idempotent {
		args = append(args, client.Idempotent())
	}
	switch {
	case r.RerunAfter < 0:
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--rerun-after %v, accepted: above 0s", r.RerunAfter)}
	case r.RerunAfter > 0 && !r.Idempotent:
		return nil, &cmdline.UsageError{Message: "--rerun-after needs --idempotent", Hint: "the request may then be executed twice: only its owner knows whether that does harm"}
	case r.RerunAfter > 0:
		args = append(args, client.Rerun(r.RerunAfter))
	}
	for k, v := range r.Label {
		args = append(args, client.Label(k, v))
	}
	return args, nil
}

// until returns what a deadline means: in a reservation it is no agreement, because the
// processors are there.
func (r *request) until(t time.Time) client.Arg {
	if r.BestEffort || r.Into != "" {
		return client.Deadline(t)
	}
	return client.Agree(t, client.Terms{Value: r.Value, Penalty: r.Penalty, Checkpointable: r.Checkpointable})
}

// anyWord stands in front of a job that may end however it does.
const anyWord = "any:"

// afterForms are the ways to name jobs that others come after.
const afterForms = selectorForms + "; with any: in front, however it ends"

// parseAfter reads what was typed for jobs that a request comes after.
func parseAfter(text string) (s selector, whatever bool, err error) {
	name, whatever := strings.CutPrefix(text, anyWord)
	if s, err = parseSelector(name); err == nil {
		return s, whatever, nil
	}
	hint := "drover queue --all lists the jobs"
	if isTime(name) {
		hint = "when it may start at the earliest is --begin " + name
	}
	return s, whatever, &cmdline.UsageError{Message: fmt.Sprintf("--after %q, accepted: %s", text, afterForms), Hint: hint}
}

// isTime says whether a text is a duration or an instant: what --after was for once.
func isTime(text string) bool {
	_, err := moment("begin", text, time.Time{})
	return err == nil
}

// finder finds jobs of a grid by what was typed for them, and remembers what it found.
type finder struct {
	app   *app
	grid  *client.Client
	known map[string][]client.Dependency
	every *client.JobList // asked for once, nil before
}

func newFinder(a *app, grid *client.Client) *finder {
	return &finder{app: a, grid: grid, known: make(map[string][]client.Dependency)}
}

// after returns the jobs that a request is to come after.
func (f *finder) after(texts []string) ([]client.Dependency, error) {
	var all []client.Dependency
	for _, text := range texts {
		found, ok := f.known[text]
		if !ok {
			var err error
			if found, err = f.find(text); err != nil {
				return nil, err
			}
			f.known[text] = found
		}
		all = append(all, found...)
	}
	return all, nil
}

func (f *finder) find(text string) ([]client.Dependency, error) {
	s, whatever, err := parseAfter(text)
	if err != nil {
		return nil, err
	}
	var every index
	if s.kind == selectPrefix || s.kind == selectRange {
		if f.every == nil {
			if f.every, err = f.grid.Jobs(f.app.ctx, client.JobFilter{}); err != nil {
				return nil, err
			}
			silent(f.app, f.every.Missing, heard)
		}
		every = newIndex(f.every.Jobs)
	}
	ids, err := f.app.match(f.grid, s, every)
	if err != nil {
		return nil, err
	}
	// To wait for another job than the one that was meant would harm.
	if s.kind == selectPrefix && len(f.every.Missing) > 0 {
		return nil, notAlone(f.every.Missing[0].Site, s.text, ids[0])
	}
	var found []client.Dependency
	for _, id := range ids {
		found = append(found, client.Dependency{Job: id, Any: whatever})
	}
	return found, nil
}

// afterArgs are the parts of a request that say what it comes after.
func afterArgs(list []client.Dependency) []client.Arg {
	var args []client.Arg
	for _, d := range list {
		if d.Any {
			args = append(args, client.AfterAny(d.Job))
		} else {
			args = append(args, client.After(d.Job))
		}
	}
	return args
}

// order returns what a request says of when, where and how often it is to be started; not
// of the jobs that it comes after, which have to be found.
func (r *request) order(now time.Time) ([]client.Arg, error) {
	var args []client.Arg
	begin, err := moment("begin", r.Begin, now)
	switch {
	case err != nil:
		return nil, err
	case r.Begin != "" && !begin.After(now):
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--begin %s, accepted: a time to come", r.Begin)}
	case r.Begin != "":
		args = append(args, client.EarliestStart(begin))
	}
	for _, text := range r.After {
		if _, _, err := parseAfter(text); err != nil {
			return nil, err
		}
	}
	if r.Retries < 0 || r.Retries > client.MostRetries {
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--retries %d, accepted: 0..%d", r.Retries, client.MostRetries)}
	}
	codes, err := parseCodes(r.RetryOn)
	if err != nil {
		return nil, err
	}
	if len(codes) > 0 && r.Retries == 0 {
		return nil, &cmdline.UsageError{Message: "--retry-on needs --retries", Hint: "--retries 3 has it started up to 3 times more"}
	}
	if r.Retries > 0 {
		args = append(args, client.Retry(r.Retries, codes...))
	}
	if r.Site != "" {
		args = append(args, client.AtSite(r.Site))
	}
	return args, nil
}

// parseCodes reads exit codes; none for nothing.
func parseCodes(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	codes, err := parseRange(text, 255)
	if err != nil || slices.Min(codes) < 1 || slices.Max(codes) > 255 {
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--retry-on %q, accepted: ascending exit codes 1..255, as 1,75,100-110", text)}
	}
	return codes, nil
}

// toKeep returns what a request is to keep at its site, of --keep ARG[=MODE].
func toKeep(list []string) ([]client.Arg, error) {
	var args []client.Arg
	for _, k := range list {
		argument, word, _ := strings.Cut(k, "=")
		mode, err := client.ParseDataMode(word)
		if err != nil || argument == "" {
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--keep %q, accepted: ARGUMENT, or ARGUMENT=volatile, =sticky or =persistent", k)}
		}
		args = append(args, client.Keep(argument, mode))
	}
	return args, nil
}

// keepOver returns what a line of a file wants to keep, over what the command line says.
func keepOver(def []string, given map[string]string) []string {
	list := slices.DeleteFunc(slices.Clone(def), func(k string) bool {
		argument, _, _ := strings.Cut(k, "=")
		_, instead := given[argument]
		return instead
	})
	for _, argument := range slices.Sorted(maps.Keys(given)) {
		list = append(list, argument+"="+given[argument])
	}
	return list
}

type keptView struct {
	ID   string          `json:"id"`
	Mode client.DataMode `json:"mode"`
}

func keptViewOf(kept map[string]client.Kept) map[string]keptView {
	var v map[string]keptView
	for argument, k := range kept {
		if v == nil {
			v = make(map[string]keptView)
		}
		v[argument] = keptView(k)
	}
	return v
}

// keptRows are the data that stay, for people: under which handle, and for how long.
func keptRows(j *client.Job) []string {
	var rows []string
	for _, argument := range slices.Sorted(maps.Keys(j.Kept)) {
		k := j.Kept[argument]
		rows = append(rows, fmt.Sprintf("%s as %s, %s", argument, k.ID, k.Mode))
	}
	return rows
}

// tellKept says on a terminal under which handles data stay.
func (a *app) tellKept(j *client.Job) {
	if !a.Terminal || a.flags.JSON || a.flags.Quiet {
		return
	}
	for _, row := range keptRows(j) {
		_, _ = fmt.Fprintf(a.Stderr, "keeps %s\n", cmdline.Printable(row))
	}
}

// toHold returns what the client is to ask for of licenses, written NAME or NAME:COPIES.
func toHold(list []string) ([]client.Arg, error) {
	var args []client.Arg
	seen := make(map[string]bool)
	for _, text := range list {
		name, count, counted := strings.Cut(text, ":")
		copies := int64(1)
		var err error
		if counted {
			copies, err = strconv.ParseInt(count, 10, 32)
		}
		switch {
		case name == "" || err != nil || copies < 1:
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--license %q, accepted: NAME, or NAME:N with 1..%d copies", text, math.MaxInt32)}
		case seen[name]:
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--license %s twice, accepted: once, with its copies (%s:2)", name, name)}
		}
		seen[name] = true
		args = append(args, client.License(name, int(copies)))
	}
	return args, nil
}

// holdOver returns what a line of a file wants to hold, over what the command line says.
func holdOver(def []string, given map[string]int) []string {
	list := slices.DeleteFunc(slices.Clone(def), func(text string) bool {
		name, _, _ := strings.Cut(text, ":")
		_, instead := given[name]
		return instead
	})
	for _, name := range slices.Sorted(maps.Keys(given)) {
		list = append(list, name+":"+strconv.Itoa(given[name]))
	}
	return list
}
