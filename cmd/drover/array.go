package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// mostIndexes bounds the elements of an array.
	mostIndexes = 10_000
	// indexMark is what stands for the index in values.
	indexMark = "{index}"
	// indexLabel is the label that every job of an array has.
	indexLabel = "index"
)

// parseRange reads a list of numbers: 1-100, 0-90:10, 7, 1,5-9. They ascend.
func parseRange(text string, most int) ([]int, error) {
	bad := func(why string) error {
		return fmt.Errorf("%q%s, accepted: ascending numbers as 1-100, 0-90:10 or 1,5-9, %d at most", text, why, most)
	}
	number := func(digits string) (int, bool) {
		n, err := strconv.ParseUint(digits, 10, 31)
		return int(n), err == nil
	}
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, ":")
		fromText, toText, isRange := strings.Cut(span, "-")
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
		case (to-from)/step+1 > most-len(list):
			return nil, bad(": too many")
		}
		for i := from; i <= to; i += step {
			list = append(list, i)
		}
	}
	return list, nil
}

// array submits one request for each index.
func (c *submitCmd) array(a *app, now time.Time) error {
	indexes, err := parseRange(*c.Array, mostIndexes)
	if err != nil {
		return &nothingError{&usageError{message: "--array " + err.Error()}}
	}
	var wishes []wish
	for _, i := range indexes {
		wishes = append(wishes, wish{service: c.Service, request: c.at(i), index: &i})
	}
	return a.submitAll(wishes, now)
}

// at returns the request of one index of an array.
func (r *request) at(index int) request {
	at := *r
	text := strconv.Itoa(index)
	at.Args = slices.Clone(r.Args)
	for i, a := range at.Args {
		if name, value, ok := strings.Cut(a, "="); ok {
			at.Args[i] = name + "=" + strings.ReplaceAll(value, indexMark, text)
		}
	}
	at.Label = map[string]string{indexLabel: text}
	maps.Copy(at.Label, r.Label)
	for k, v := range at.Label {
		at.Label[k] = strings.ReplaceAll(v, indexMark, text)
	}
	return at
}
