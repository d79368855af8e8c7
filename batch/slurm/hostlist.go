package slurm

import (
	"fmt"
	"strings"
)

// mostHosts bounds what a list of nodes is expanded to.
const mostHosts = 4096

// expand returns the names that a list of nodes stands for: a[1-3,7],b. What is not
// understood, or too long, is returned as it is.
func expand(list string) []string {
	if list == "" {
		return nil
	}
	var names []string
	for _, part := range parts(list) {
		more := expandOne(part)
		if more == nil || len(names)+len(more) > mostHosts {
			return []string{list}
		}
		names = append(names, more...)
	}
	return names
}

// parts cuts a list at the commas that are not in brackets.
func parts(list string) []string {
	var all []string
	depth, from := 0, 0
	for i, c := range []byte(list) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			all = append(all, list[from:i])
			from = i + 1
		}
	}
	return append(all, list[from:])
}

// expandOne expands the first brackets of a name, and what follows by itself.
func expandOne(text string) []string {
	head, rest, ok := strings.Cut(text, "[")
	if !ok {
		return []string{text}
	}
	inner, tail, ok := strings.Cut(rest, "]")
	if !ok {
		return nil
	}
	tails := expandOne(tail)
	var names []string
	for part := range strings.SplitSeq(inner, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, okA := parseNumber(from)
		b, okB := parseNumber(to)
		if !okA || !okB || b < a || (b-a+1)*int64(max(len(tails), 1)) > mostHosts {
			return nil
		}
		for n := a; n <= b; n++ {
			for _, t := range tails {
				names = append(names, fmt.Sprintf("%s%0*d%s", head, len(from), n, t))
			}
		}
		if len(names) > mostHosts {
			return nil
		}
	}
	return names
}
