package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

const (
	maxLines     = 100_000
	maxLineBytes = 1 << 20
	maxFileBytes = 256 << 20 // all of it is read before anything is submitted
)

// requestLine is one request of a file. Fields that are absent take their values from the
// command line.
type requestLine struct {
	Service        *string                    `json:"service"`
	Arguments      map[string]json.RawMessage `json:"arguments"`
	Width          *int                       `json:"width"`
	CPU            *float64                   `json:"cpu"`
	Walltime       *lineDuration              `json:"walltime"`
	Deadline       *lineDuration              `json:"deadline"`
	BestEffort     *bool                      `json:"bestEffort"`
	Value          *float64                   `json:"value"`
	Penalty        *float64                   `json:"penalty"`
	Checkpointable *bool                      `json:"checkpointable"`
	Into           *string                    `json:"into"`
	Begin          *lineMoment                `json:"begin"`
	Name           *string                    `json:"name"`
	After          *lineAfter                 `json:"after"`
	Retries        *int                       `json:"retries"`
	RetryOn        *lineCodes                 `json:"retryOn"`
	Site           *string                    `json:"site"`
	Keep           map[string]string          `json:"keep"`
	Licenses       map[string]int             `json:"licenses"`
	Owner          *string                    `json:"owner"`
	Idempotent     *bool                      `json:"idempotent"`
	RerunAfter     *lineDuration              `json:"rerunAfter"`
	Labels         map[string]string          `json:"labels"`
}

// lineDuration is a duration as on the command line, or a number of seconds.
type lineDuration time.Duration

func (d *lineDuration) UnmarshalJSON(text []byte) error {
	var given any
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	switch v := given.(type) {
	case string:
		read, err := cmdline.ParseDuration(v)
		*d = lineDuration(read)
		return err
	case float64:
		read := v * float64(time.Second)
		if read > 1<<62 || read < -1<<62 {
			return fmt.Errorf("%g seconds, accepted: fewer", v)
		}
		*d = lineDuration(read)
		return nil
	}
	return fmt.Errorf("%s, accepted: %s, or a number of seconds", text, cmdline.DurationForms)
}

// fromFile submits the requests of a file.
func (c *submitCmd) fromFile(a *app, now time.Time) error {
	in, name := a.Stdin, "stdin"
	switch *c.From {
	case "":
		return &nothingError{&cmdline.UsageError{Message: `--from "", accepted: a file, or - for stdin`}}
	case "-":
	default:
		f, err := os.Open(kong.ExpandPath(*c.From))
		if err != nil {
			return &nothingError{err}
		}
		defer f.Close()
		in, name = f, *c.From
	}
	entries, err := readLines(in, c.Service, &c.request)
	if err != nil {
		return &nothingError{&cmdline.UsageError{Message: name + ": " + err.Error()}}
	}
	return a.submitAll(entries, now)
}

// readLines reads all requests. Its error names the first malformed line. Empty lines are
// skipped.
func readLines(in io.Reader, service string, def *request) ([]entry, error) {
	var entries []entry
	s := bufio.NewScanner(io.LimitReader(in, maxFileBytes+1))
	s.Buffer(nil, maxLineBytes+2)
	line, size := 0, 0
	for s.Scan() {
		line++
		size += len(s.Bytes()) + 1
		text := s.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // byte order mark
		}
		text = bytes.TrimSpace(text)
		switch {
		case len(text) > maxLineBytes || len(text) == 0:
			if len(text) > 0 {
				return nil, fmt.Errorf("line %d is longer than %d bytes", line, maxLineBytes)
			}
			continue
		case size > maxFileBytes:
			return nil, fmt.Errorf("more than %d bytes", maxFileBytes)
		case len(entries) == maxLines:
			return nil, fmt.Errorf("line %d: more than %d requests", line, maxLines)
		}
		e, err := readLine(text, service, def)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		e.line = line
		entries = append(entries, e)
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", line+1, maxLineBytes)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	}
	if len(entries) == 0 {
		return nil, errors.New("no request in it, accepted: JSON lines")
	}
	return entries, nil
}

// readLine reads one request; def holds the values of the command line.
func readLine(text []byte, service string, def *request) (entry, error) {
	var l requestLine
	if err := checkKeys(text); err != nil {
		return entry{}, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return entry{}, malformed(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return entry{}, errors.New("more than one JSON object")
	}
	e := entry{service: service, request: *def}
	r := &e.request
	take(&e.service, l.Service)
	if e.service == "" {
		return entry{}, errors.New("no service")
	}
	given := make(map[string]string)
	for name, raw := range l.Arguments {
		value, err := textOf(raw)
		if err != nil {
			return entry{}, fmt.Errorf("argument %s: %w", name, err)
		}
		given[name] = value
	}
	r.Args = slices.DeleteFunc(slices.Clone(r.Args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		_, overridden := given[name]
		return overridden
	})
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name == "" || strings.Contains(name, "=") {
			return entry{}, fmt.Errorf("argument %q, accepted: a name", name)
		}
		r.Args = append(r.Args, name+"="+given[name])
	}
	if l.Width != nil {
		r.Width = l.Width
	}
	if l.CPU != nil {
		r.CPU = l.CPU
	}
	for _, f := range []struct {
		to    **time.Duration
		given *lineDuration
	}{{&r.Walltime, l.Walltime}, {&r.Deadline, l.Deadline}} {
		if f.given != nil {
			*f.to = (*time.Duration)(f.given)
		}
	}
	if l.Name != nil {
		if err := checkName(*l.Name); err != nil {
			return entry{}, err
		}
		e.name = *l.Name
	}
	if l.After != nil {
		r.After, e.ownAfter = *l.After, true
	}
	take(&r.Begin, (*string)(l.Begin))
	take(&r.Retries, l.Retries)
	take(&r.RetryOn, (*string)(l.RetryOn))
	take(&r.Site, l.Site)
	take(&r.RerunAfter, (*time.Duration)(l.RerunAfter))
	take(&r.BestEffort, l.BestEffort)
	take(&r.Value, l.Value)
	take(&r.Penalty, l.Penalty)
	take(&r.Checkpointable, l.Checkpointable)
	take(&r.Into, l.Into)
	take(&r.Owner, l.Owner)
	r.Keep = overrideKeep(r.Keep, l.Keep)
	r.License = overrideLicenses(r.License, l.Licenses)
	take(&r.Idempotent, l.Idempotent)
	if len(l.Labels) > 0 {
		r.Label = maps.Clone(r.Label)
		if r.Label == nil {
			r.Label = make(map[string]string)
		}
		maps.Copy(r.Label, l.Labels)
	}
	return e, nil
}

// malformed describes a decoding error in JSON terms.
func malformed(err error) error {
	wrong := new(json.UnmarshalTypeError)
	if !errors.As(err, &wrong) {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	accepted := "a JSON object"
	switch wrong.Type.Kind() {
	case reflect.String:
		accepted = "a string"
	case reflect.Int:
		accepted = "an integer"
	case reflect.Float64:
		accepted = "a number"
	case reflect.Bool:
		accepted = "true or false"
	}
	if wrong.Field == "" {
		return fmt.Errorf("%s, accepted: %s", wrong.Value, accepted)
	}
	return fmt.Errorf("%s: %s, accepted: %s", wrong.Field, wrong.Value, accepted)
}

func take[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

// textOf returns a JSON string, number, bool or list of numbers as a user would type it.
func textOf(raw json.RawMessage) (string, error) {
	var given any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		return "", err
	}
	switch v := given.(type) {
	case string:
		return v, nil
	case json.Number, bool:
		return fmt.Sprint(v), nil
	case []any:
		if text, ok := arrayText(v); ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("%.40s, accepted: a string, a number, true, false, or a list of numbers or of rows of them",
		raw)
}

// maxNameBytes bounds the name of a request.
const maxNameBytes = 200

// lineMoment is an instant, or a time from now as in lineDuration.
type lineMoment string

func (m *lineMoment) UnmarshalJSON(text []byte) error {
	var given string
	if json.Unmarshal(text, &given) == nil {
		*m = lineMoment(given)
		if _, err := moment("begin", given, time.Time{}); err != nil || given == "" {
			return fmt.Errorf("begin: %q, accepted: a time from now, as 90m, an instant, as 2026-05-01T09:00:00Z, or "+
				"a number of seconds", given)
		}
		return nil
	}
	var d lineDuration
	err := d.UnmarshalJSON(text)
	*m = lineMoment(time.Duration(d).String())
	return err
}

// lineAfter holds dependencies in the syntax of --after.
type lineAfter []string

func (l *lineAfter) UnmarshalJSON(text []byte) error {
	const accepted = `accepted: a list of names of lines, jobs, and objects as {"job": "prepare", "any": true}`
	var given []json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		var once any // a user of Slurm may expect a time here
		_ = json.Unmarshal(text, &once)
		if s, ok := once.(string); ok && isTime(s) || reflect.ValueOf(once).Kind() == reflect.Float64 {
			return fmt.Errorf("after: %.40s, %s; the earliest start is begin", text, accepted)
		}
		return fmt.Errorf("after: %.40s, %s", text, accepted)
	}
	*l = lineAfter{}
	for _, one := range given {
		var name string
		if json.Unmarshal(one, &name) == nil && name != "" {
			*l = append(*l, name)
			continue
		}
		var job struct {
			Job string `json:"job"`
			Any bool   `json:"any"`
		}
		d := json.NewDecoder(bytes.NewReader(one))
		d.DisallowUnknownFields()
		if err := d.Decode(&job); err != nil || job.Job == "" || strings.HasPrefix(job.Job, anyWord) {
			return fmt.Errorf("after: %.40s, %s", one, accepted)
		}
		if job.Any {
			job.Job = anyWord + job.Job
		}
		*l = append(*l, job.Job)
	}
	return nil
}

// lineCodes is a list of exit codes, or a range as on the command line.
type lineCodes string

func (c *lineCodes) UnmarshalJSON(text []byte) error {
	var given string
	var list []int
	switch {
	case json.Unmarshal(text, &given) == nil:
	case json.Unmarshal(text, &list) == nil:
		slices.Sort(list)
		var words []string
		for _, code := range slices.Compact(list) {
			words = append(words, strconv.Itoa(code))
		}
		given = strings.Join(words, ",")
	default:
		return fmt.Errorf("retryOn: %.40s, accepted: exit codes, as [1, 75] or \"1,100-110\"", text)
	}
	*c = lineCodes(given)
	return nil
}

// checkName refuses a name that cannot be used in "after".
func checkName(name string) error {
	bad := name == "" || len(name) > maxNameBytes || strings.HasPrefix(name, anyWord) ||
		strings.ContainsFunc(name, unicode.IsControl)
	if bad {
		return fmt.Errorf("name %.40q, accepted: up to %d bytes, without %q in front and control characters", name,
			maxNameBytes, anyWord)
	}
	return nil
}

// lineKeys are the keys of a line. encoding/json would also accept them in upper case.
var lineKeys = func() map[string]bool {
	known := make(map[string]bool)
	t := reflect.TypeFor[requestLine]()
	for i := range t.NumField() {
		known[t.Field(i).Tag.Get("json")] = true
	}
	return known
}()

// checkKeys refuses duplicate keys, which programs read differently, and unknown keys of
// the line itself.
func checkKeys(text []byte) error {
	type level struct {
		seen map[string]bool // nil in a list
		key  bool            // a key comes next
	}
	var open []*level
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "json: "))
		}
		var at *level
		if len(open) > 0 {
			at = open[len(open)-1]
		}
		delim, _ := t.(json.Delim)
		if name, ok := t.(string); ok && at != nil && at.key {
			if at.seen[name] {
				return fmt.Errorf("%.40q twice, accepted: once", name)
			}
			if len(open) == 1 && !lineKeys[name] {
				return fmt.Errorf("unknown field %.40q", name)
			}
			at.seen[name], at.key = true, false
			continue
		}
		switch delim {
		case '{':
			open = append(open, &level{seen: make(map[string]bool), key: true})
			continue
		case '[':
			open = append(open, &level{})
			continue
		case '}', ']':
			open = open[:len(open)-1]
			at = nil
			if len(open) > 0 {
				at = open[len(open)-1]
			}
		}
		if at != nil && at.seen != nil { // after a value
			at.key = true
		}
	}
}

// arrayText formats a list of numbers, or of rows of numbers, as a user would type it.
func arrayText(list []any) (string, bool) {
	rows := make([]string, 0, len(list))
	for _, v := range list {
		row, ok := v.([]any)
		if !ok {
			return rowText(list)
		}
		text, ok := rowText(row)
		if !ok {
			return "", false
		}
		rows = append(rows, text)
	}
	return strings.Join(rows, ";"), len(rows) > 0
}

func rowText(list []any) (string, bool) {
	numbers := make([]string, 0, len(list))
	for _, v := range list {
		number, ok := v.(json.Number)
		if !ok {
			return "", false
		}
		numbers = append(numbers, number.String())
	}
	return strings.Join(numbers, ","), len(numbers) > 0
}
