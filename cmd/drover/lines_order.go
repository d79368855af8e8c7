package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// longestName bounds the name of a request, bytes.
const longestName = 200

// lineMoment is an instant, or a time from now as lineDuration reads it.
type lineMoment string

func (m *lineMoment) UnmarshalJSON(text []byte) error {
	var given string
	if json.Unmarshal(text, &given) == nil {
		*m = lineMoment(given)
		if _, err := moment("begin", given, time.Time{}); err != nil || given == "" {
			return fmt.Errorf("begin: %q, accepted: a time from now, as 90m, an instant, as 2026-05-01T09:00:00Z, or a number of seconds", given)
		}
		return nil
	}
	var d lineDuration
	err := d.UnmarshalJSON(text)
	*m = lineMoment(time.Duration(d).String())
	return err
}

// lineAfter is what a request comes after, as the command line has it.
type lineAfter []string

func (l *lineAfter) UnmarshalJSON(text []byte) error {
	const accepted = `accepted: a list of names of lines, jobs, and objects as {"job": "prepare", "any": true}`
	var given []json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		var once any // it was a time in the first versions
		_ = json.Unmarshal(text, &once)
		if s, ok := once.(string); ok && isTime(s) || reflect.ValueOf(once).Kind() == reflect.Float64 {
			return fmt.Errorf("after: %.40s, %s; when it may start at the earliest is begin", text, accepted)
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

// lineCodes is a list of exit codes, or a range as the command line has it.
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
		return fmt.Errorf("retry_on: %.40s, accepted: exit codes, as [1, 75] or \"1,100-110\"", text)
	}
	*c = lineCodes(given)
	return nil
}

// checkName refuses a name by which a request could not be told from a job.
func checkName(name string) error {
	bad := name == "" || len(name) > longestName || strings.HasPrefix(name, anyWord) || strings.ContainsFunc(name, unicode.IsControl)
	if bad {
		return fmt.Errorf("name %.40q, accepted: up to %d bytes, without %q in front and control characters", name, longestName, anyWord)
	}
	return nil
}

// keysOf are the names that a line can have: exactly as they are, though Go's reader takes
// them in capitals, too.
var keysOf = func() map[string]bool {
	known := make(map[string]bool)
	t := reflect.TypeFor[requestLine]()
	for i := range t.NumField() {
		known[t.Field(i).Tag.Get("json")] = true
	}
	return known
}()

// checkKeys refuses a name that an object has twice: the reader would take the last, and
// another program the first. Of the line itself the names have to be known ones.
func checkKeys(text []byte) error {
	type level struct {
		seen map[string]bool // of an object; nil of a list
		key  bool            // a name comes next
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
			if len(open) == 1 && !keysOf[name] {
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
		if at != nil && at.seen != nil { // a value is complete
			at.key = true
		}
	}
}
