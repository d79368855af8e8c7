package catalogue

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The limits of what a service may need.
const (
	mostLicenses = 100
	mostCopies   = 1 << 30
	longestWord  = 255 // of a license's name, bytes
)

// BadLicense says whether a name cannot be that of a license.
func BadLicense(name string) bool {
	return name == "" || len(name) > longestWord || strings.ContainsAny(name, ":=, \t\n\r\x00")
}

// LicenseAccepted says what the name of a license may be.
const LicenseAccepted = "a word of at most 255 bytes without : , and ="

// licenses reads what a service's jobs hold while they run: names, or names with copies.
func (d *decoder) licenses(n *yaml.Node, path string) []batch.License {
	var list []batch.License
	seen := make(map[string]bool)
	d.list(n, path, func(n *yaml.Node, path string) {
		l := batch.License{Copies: 1}
		name := func(n *yaml.Node, path string) {
			v, ok := d.scalar(n, path, LicenseAccepted)
			switch {
			case !ok:
			case BadLicense(v):
				d.fail(n, path, "got %q, accepted: %s", v, LicenseAccepted)
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
	if len(list) > mostLicenses {
		d.fail(n, path, "got %d, accepted: at most %d", len(list), mostLicenses)
	}
	return list
}
