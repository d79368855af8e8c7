package catalogue

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The limits of what a service may need.
const (
	mostLicences = 100
	mostCopies   = 1 << 30
	longestWord  = 255 // of a licence's name, bytes
)

// BadLicence says whether a name cannot be that of a licence.
func BadLicence(name string) bool {
	return name == "" || len(name) > longestWord || strings.ContainsAny(name, ":=, \t\n\r\x00")
}

// LicenceAccepted says what the name of a licence may be.
const LicenceAccepted = "a word of at most 255 bytes without : , and ="

// licences reads what a service's jobs hold while they run: names, or names with copies.
func (d *decoder) licences(n *yaml.Node, path string) []batch.Licence {
	var list []batch.Licence
	seen := make(map[string]bool)
	d.list(n, path, func(n *yaml.Node, path string) {
		l := batch.Licence{Copies: 1}
		name := func(n *yaml.Node, path string) {
			v, ok := d.scalar(n, path, LicenceAccepted)
			switch {
			case !ok:
			case BadLicence(v):
				d.fail(n, path, "got %q, accepted: %s", v, LicenceAccepted)
			case seen[v]:
				d.fail(n, path, "%q is given twice, accepted: once, with its copies", v)
			}
			l.Name, seen[v] = v, true
		}
		if n.Kind == yaml.ScalarNode {
			name(n, path)
		} else {
			d.mapping(n, path,
				field{"name", true, name},
				field{"copies", false, func(n *yaml.Node, path string) { l.Copies = int32(d.integer(n, path, 1, mostCopies)) }},
			)
		}
		list = append(list, l)
	})
	if len(list) > mostLicences {
		d.fail(n, path, "got %d, accepted: at most %d", len(list), mostLicences)
	}
	return list
}
