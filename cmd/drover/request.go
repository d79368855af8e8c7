package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// request holds the flags and arguments that submit, call and estimate share. Flags are
// only parsed here: the grid checks the request and names the wrong field.
type request struct {
	Args []string `arg:"" optional:"" name:"name=value" help:"The service's arguments. The value of a file is its path." complete:"argument"`

	Width      *int           `placeholder:"N" help:"Processors; default: the width that finishes first."`
	CPU        *float64       `name:"cpu" placeholder:"N" help:"Part of a processor that each task can use, above 0 and up to 1; default: 1. Only sites that share processors use it."`
	Walltime   *time.Duration `placeholder:"D" help:"Kill the job after this time; default: by the service's performance model."`
	Deadline   *time.Duration `placeholder:"D" help:"Time from now by which the job must finish. This is an agreement: a site accepts it only if its plan meets it."`
	BestEffort bool           `help:"Make no agreement about the deadline. A site that expects to miss it still refuses the request."`
	Value      float64        `placeholder:"N" help:"Value of meeting the agreement, for the site's accounts."`
	Penalty    float64        `placeholder:"N" help:"Cost of breaking the agreement."`

	Checkpointable bool `help:"The job can stop and later continue from a checkpoint; with --deadline."`

	License    []string          `placeholder:"NAME[:N]" help:"Hold N copies (default: 1) of a license while the job runs, in addition to those of its service. Repeatable."`
	Into       string            `placeholder:"ID" help:"Run in this reservation."`
	Begin      string            `placeholder:"T" help:"Earliest start: a time from now (90m) or an instant (2026-05-01T09:00:00Z)."`
	After      []string          `placeholder:"JOB" complete:"jobs" help:"Start when this job is done: its ID or a beginning, last, all, FROM..TO. With any:JOB, when it has ended in any state. Repeatable."`
	Retries    int               `placeholder:"N" help:"Start the job up to N more times if it fails."`
	RetryOn    string            `placeholder:"CODES" help:"Retry only after these exit codes, as 1,75,100-110; with --retries."`
	Site       string            `placeholder:"SITE" complete:"site" help:"The only site that can run the job. It is never moved."`
	Keep       []string          `placeholder:"ARG[=MODE]" help:"Keep the data of this argument at the job's site, under a handle that the job names: volatile, sticky or persistent (the default). Repeatable."`
	Owner      string            `placeholder:"NAME" help:"Owner of the job; default: USER."`
	Idempotent bool              `help:"The request can be executed twice without harm."`
	RerunAfter time.Duration     `placeholder:"D" help:"Submit the request again, under a new ID, when the job has been unknown for this long; with --idempotent."`
	Label      map[string]string `placeholder:"KEY=VALUE" help:"Label of the job, key=value. Repeatable."`
}

// arguments translates the request for the client, without the jobs of --after, which
// dependencyFinder finds. read makes an argument from its name and its text.
func (r *request) arguments(
	service string, now time.Time, read func(name, text string) client.Arg,
) ([]client.Arg, error) {
	var args []client.Arg
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
	if r.Width != nil {
		args = append(args, client.Width(*r.Width))
	}
	if r.CPU != nil {
		if *r.CPU == 0 { // the wire format has 0 for "not set"
			return nil, &cmdline.UsageError{Message: "--cpu 0, accepted: above 0 and up to 1"}
		}
		args = append(args, client.CPU(*r.CPU))
	}
	if r.Walltime != nil {
		args = append(args, client.Walltime(*r.Walltime))
	}
	for _, part := range []func(time.Time) ([]client.Arg, error){
		r.deadlineArgs, r.startArgs, r.retryArgs, r.keepArgs, r.licenseArgs,
	} {
		more, err := part(now)
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	if r.Site != "" {
		args = append(args, client.AtSite(r.Site))
	}
	if r.Into != "" {
		args = append(args, client.Into(r.Into))
	}
	if r.Owner != "" {
		args = append(args, client.Owner(r.Owner))
	}
	if r.Idempotent {
		args = append(args, client.Idempotent())
	}
	if r.RerunAfter != 0 {
		args = append(args, client.Rerun(r.RerunAfter))
	}
	for k, v := range r.Label {
		args = append(args, client.Label(k, v))
	}
	return args, nil
}

// deadlineArgs translates --deadline and the terms of the agreement. Jobs in a
// reservation need no agreement, because their processors are set aside.
func (r *request) deadlineArgs(now time.Time) ([]client.Arg, error) {
	terms := r.Value != 0 || r.Penalty != 0 || r.Checkpointable
	switch {
	case r.Deadline == nil && (r.BestEffort || terms):
		return nil,
			&cmdline.UsageError{Message: "--best-effort, --value, --penalty and --checkpointable need --deadline"}
	case r.BestEffort && terms:
		return nil, &cmdline.UsageError{
			Message: "--best-effort makes no agreement, accepted: without --value, --penalty and --checkpointable",
		}
	case r.Deadline == nil:
		return nil, nil
	case r.BestEffort || r.Into != "":
		return []client.Arg{client.Deadline(now.Add(*r.Deadline))}, nil
	}
	agreement := client.Terms{Value: r.Value, Penalty: r.Penalty, Checkpointable: r.Checkpointable}
	return []client.Arg{client.Agree(now.Add(*r.Deadline), agreement)}, nil
}

// startArgs translates --begin, and checks the syntax of --after.
func (r *request) startArgs(now time.Time) ([]client.Arg, error) {
	for _, text := range r.After {
		if _, _, err := parseAfter(text); err != nil {
			return nil, err
		}
	}
	begin, err := moment("begin", r.Begin, now)
	switch {
	case err != nil || r.Begin == "":
		return nil, err
	case !begin.After(now):
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--begin %s, accepted: a time in the future", r.Begin)}
	}
	return []client.Arg{client.EarliestStart(begin)}, nil
}

func (r *request) retryArgs(time.Time) ([]client.Arg, error) {
	var codes []int
	if r.RetryOn != "" {
		var err error
		if codes, err = parseRange(r.RetryOn, 255); err != nil {
			return nil, &cmdline.UsageError{Message: "--retry-on " + err.Error()}
		}
	}
	if r.Retries == 0 && len(codes) == 0 {
		return nil, nil
	}
	return []client.Arg{client.Retry(r.Retries, codes...)}, nil
}

// keepArgs translates --keep ARG[=MODE].
func (r *request) keepArgs(time.Time) ([]client.Arg, error) {
	var args []client.Arg
	for _, k := range r.Keep {
		argument, word, _ := strings.Cut(k, "=")
		mode, err := client.ParseDataMode(word)
		if err != nil || argument == "" {
			return nil, &cmdline.UsageError{
				Message: fmt.Sprintf("--keep %q, accepted: ARGUMENT, or ARGUMENT=volatile, =sticky or =persistent", k),
			}
		}
		args = append(args, client.Keep(argument, mode))
	}
	return args, nil
}

// licenseArgs translates --license NAME[:COPIES].
func (r *request) licenseArgs(time.Time) ([]client.Arg, error) {
	var args []client.Arg
	seen := make(map[string]bool)
	for _, text := range r.License {
		name, count, counted := strings.Cut(text, ":")
		copies := int64(1)
		var err error
		if counted {
			copies, err = strconv.ParseInt(count, 10, 32)
		}
		switch {
		case name == "" || err != nil:
			return nil,
				&cmdline.UsageError{Message: fmt.Sprintf("--license %q, accepted: NAME, or NAME:N with N copies", text)}
		case seen[name]:
			return nil,
				&cmdline.UsageError{Message: fmt.Sprintf("--license %s twice, accepted: once, with its copies (%s:2)",
					name, name)}
		}
		seen[name] = true
		args = append(args, client.License(name, int(copies)))
	}
	return args, nil
}

// anyWord in front of a job in --after: that job can end in any state.
const anyWord = "any:"

// afterForms describes the values of --after.
const afterForms = selectorForms + "; with any: in front, in whatever state it ends"

// parseAfter parses a value of --after.
func parseAfter(text string) (s selector, anyState bool, err error) {
	name, anyState := strings.CutPrefix(text, anyWord)
	if s, err = parseSelector(name); err == nil {
		return s, anyState, nil
	}
	hint := "drover queue --all lists the jobs"
	if isTime(name) {
		hint = "the earliest start is --begin " + name
	}
	return s, anyState, &cmdline.UsageError{
		Message: fmt.Sprintf("--after %q, accepted: %s", text, afterForms), Hint: hint,
	}
}

// isTime reports whether text is a duration or an instant. Slurm users expect a time
// with "after" too, so the hint names --begin.
func isTime(text string) bool {
	_, err := moment("begin", text, time.Time{})
	return err == nil
}

// dependencyFinder finds the jobs of --after and remembers what it found.
type dependencyFinder struct {
	app        *app
	grid       *client.Client
	bySelector map[string][]client.Dependency
	all        *client.JobList // loaded once; nil before
}

func newDependencyFinder(a *app, grid *client.Client) *dependencyFinder {
	return &dependencyFinder{app: a, grid: grid, bySelector: make(map[string][]client.Dependency)}
}

// find returns the jobs of all values of --after.
func (f *dependencyFinder) find(texts []string) ([]client.Dependency, error) {
	var all []client.Dependency
	for _, text := range texts {
		found, ok := f.bySelector[text]
		if !ok {
			var err error
			if found, err = f.findOne(text); err != nil {
				return nil, err
			}
			f.bySelector[text] = found
		}
		all = append(all, found...)
	}
	return all, nil
}

func (f *dependencyFinder) findOne(text string) ([]client.Dependency, error) {
	s, anyState, err := parseAfter(text)
	if err != nil {
		return nil, err
	}
	var all index
	if s.kind == selectPrefix || s.kind == selectRange {
		if f.all == nil {
			if f.all, err = f.grid.Jobs(f.app.ctx, client.JobFilter{Brief: true}); err != nil {
				return nil, err
			}
			warnMissing(f.app, f.all.Missing, staleSearch)
		}
		all = newIndex(f.all.Jobs)
	}
	ids, err := f.app.match(f.grid, s, all)
	if err != nil {
		return nil, err
	}
	// Depending on the wrong job would do harm.
	if s.kind == selectPrefix && len(f.all.Missing) > 0 {
		return nil, uncertainPrefix(f.all.Missing[0].Site, s.text, ids[0])
	}
	var found []client.Dependency
	for _, id := range ids {
		found = append(found, client.Dependency{Job: id, Any: anyState})
	}
	return found, nil
}

// dependencyArgs translates dependencies for the client.
func dependencyArgs(list []client.Dependency) []client.Arg {
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

// checkFiles returns an error about the first file argument that cannot be sent: it does
// not exist, or is not the array that the service expects.
func checkFiles(about *client.Service, args []string) error {
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, "=")
		if err := about.Misfit(name, text); err != nil {
			return err
		}
	}
	return nil
}

// overrideKeep returns list with the entries of override in place of those for the
// same argument.
func overrideKeep(list []string, override map[string]string) []string {
	kept := slices.DeleteFunc(slices.Clone(list), func(k string) bool {
		argument, _, _ := strings.Cut(k, "=")
		_, overridden := override[argument]
		return overridden
	})
	for _, argument := range slices.Sorted(maps.Keys(override)) {
		kept = append(kept, argument+"="+override[argument])
	}
	return kept
}

// overrideLicenses returns list with the entries of override in place of those for
// the same license.
func overrideLicenses(list []string, override map[string]int) []string {
	held := slices.DeleteFunc(slices.Clone(list), func(text string) bool {
		name, _, _ := strings.Cut(text, ":")
		_, overridden := override[name]
		return overridden
	})
	for _, name := range slices.Sorted(maps.Keys(override)) {
		held = append(held, name+":"+strconv.Itoa(override[name]))
	}
	return held
}

// parseRange parses ascending numbers: 1-100, 0-90:10, 7, 1,5-9. It returns at most
// limit numbers.
func parseRange(text string, limit int) ([]int, error) {
	bad := func(why string) error {
		return fmt.Errorf("%q%s, accepted: ascending numbers as 1-100, 0-90:10 or 1,5-9, %d at most", text, why, limit)
	}
	number := func(digits string) (int, bool) {
		n, err := strconv.ParseUint(digits, 10, 31)
		return int(n), err == nil
	}
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		bounds, stepText, stepped := strings.Cut(part, ":")
		fromText, toText, isRange := strings.Cut(bounds, "-")
		from, ok := number(fromText)
		to, step := from, 1
		if ok && isRange {
			to, ok = number(toText)
		}
		if ok && stepped {
			step, ok = number(stepText)
			ok = ok && isRange && step > 0
		}
		switch {
		case !ok:
			return nil, bad("")
		case to < from:
			return nil, bad(": the range goes down")
		case len(list) > 0 && from <= list[len(list)-1]:
			return nil, bad(fmt.Sprintf(": %d comes after %d", from, list[len(list)-1]))
		case (to-from)/step+1 > limit-len(list):
			return nil, bad(": too many")
		}
		for i := from; i <= to; i += step {
			list = append(list, i)
		}
	}
	return list, nil
}
