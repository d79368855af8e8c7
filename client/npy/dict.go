package npy

import (
	"fmt"
	"strconv"
	"strings"
)

// dict is the content of a header.
type dict struct {
	descr   string
	fortran bool
	shape   []int64
}

// reader reads a Python literal, as far as headers need.
type reader struct{ rest string }

// parseDict reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. Its keys
// can have any order; each has to be there once.
func parseDict(text string) (dict, error) {
	var d dict
	r := &reader{rest: text}
	bad := func() (dict, error) {
		return dict{}, &FormatError{Why: fmt.Sprintf("its header is malformed at %.20q", r.rest)}
	}
	if !r.take("{") {
		return bad()
	}
	seen := make(map[string]bool)
	for !r.take("}") {
		key, ok := r.text()
		if !ok || seen[key] || !r.take(":") {
			return bad()
		}
		seen[key] = true
		switch key {
		case "descr":
			if r.take("[") {
				return dict{}, &FormatError{
					Why: "its elements are records, accepted: numbers", Hint: "save one of their fields",
				}
			}
			d.descr, ok = r.text()
		case "fortran_order":
			d.fortran = r.take("True")
			ok = d.fortran || r.take("False")
		case "shape":
			d.shape, ok = r.tuple()
		default:
			ok = false
		}
		if !ok {
			return bad()
		}
		if !r.take(",") {
			if !r.take("}") {
				return bad()
			}
			break
		}
	}
	if r.take(""); r.rest != "" || len(seen) != 3 {
		return bad()
	}
	return d, nil
}

// take skips a word if it comes next.
func (r *reader) take(word string) bool {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(r.rest, word)
	if ok {
		r.rest = rest
	}
	return ok
}

// text reads a string.
func (r *reader) text() (string, bool) {
	for _, quote := range []string{"'", `"`} {
		if r.take(quote) {
			text, rest, ok := strings.Cut(r.rest, quote)
			if !ok || strings.ContainsAny(text, "\\\n") {
				return "", false
			}
			r.rest = rest
			return text, true
		}
	}
	return "", false
}

// tuple reads a tuple of numbers of at least 0.
func (r *reader) tuple() ([]int64, bool) {
	if !r.take("(") {
		return nil, false
	}
	list := []int64{}
	for !r.take(")") {
		r.take("")
		digits := r.rest[:len(r.rest)-len(strings.TrimLeft(r.rest, "0123456789"))]
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, false
		}
		r.rest = r.rest[len(digits):]
		r.take("L") // as Python 2 wrote long numbers
		list = append(list, n)
		if !r.take(",") && (len(list) < 2 || !strings.HasPrefix(r.rest, ")")) {
			return nil, false // (3) is no tuple
		}
	}
	return list, true
}
