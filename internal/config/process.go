package config

import (
	"fmt"
	"net/url"
	"strings"
)

// Process is the part of a configuration that every process of a grid has.
type Process struct {
	Version  int
	Name     string
	Listen   string
	URL      string // empty: derived from Listen
	Bind     string // gossip.bind
	Seeds    []string
	Insecure bool
}

// Problems returns all problems, in the order of the fields.
func (p *Process) Problems() []*FieldError {
	var errs []*FieldError
	bad := func(key string, value any, accepted string) {
		errs = append(errs, &FieldError{Key: key, Value: fmt.Sprint(value), Accepted: accepted})
	}
	if p.Version != 1 {
		bad("version", p.Version, "1")
	}
	if !IsName(p.Name) {
		bad("name", p.Name, NameAccepted)
	}
	address := func(key, value string) {
		switch loopback, err := Loopback(value); {
		case err != nil:
			bad(key, value, AddressAccepted)
		case !loopback && !p.Insecure:
			bad(key, value, LoopbackAccepted)
		}
	}
	address("listen", p.Listen)
	if u, err := url.Parse(p.URL); p.URL != "" && (err != nil || u.Scheme != "http" || u.Host == "") {
		bad("url", p.URL, "http://host:port")
	}
	address("gossip.bind", p.Bind)
	for i, s := range p.Seeds {
		if _, err := Loopback(s); err != nil {
			bad(fmt.Sprintf("gossip.seeds[%d]", i), s, AddressAccepted)
		}
	}
	return errs
}

// NameAccepted describes the names that IsName accepts.
const NameAccepted = "a word of at most 63 bytes without /, \\ and spaces that does not begin with a dot"

// IsName reports whether an agent or a site can have a name: it is part of paths and of URLs.
func IsName(name string) bool {
	return name != "" && len(name) <= 63 && !strings.ContainsAny(name, "/\\ \t\n\x00") && !strings.HasPrefix(name, ".")
}
