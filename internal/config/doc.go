// Package config reads YAML files into structs that hold the defaults. It reports all problems of a file at once,
// each with its line, its key, its value and the accepted values:
//
//	file ──Read──▶ struct, and the problems of its form (unknown keys, missing keys, wrong types)
//	                  │
//	          its own Validate: ranges
//	                  │
//	               Check ──▶ one error, sorted by line
//
// A key is the yaml tag of a field; the tag option "required" refuses a file without the key. A package reads a union,
// a formula or a mapping with free keys itself: a field of type Value holds the YAML value and its position.
//
// Values have units: a duration is written 90s, a size 4GiB, a rate 125MB/s.
//
// The package walks the nodes of yaml/v3 itself because the decoders of YAML libraries with positions, such as
// goccy/go-yaml (its issue 156), return the first error of a file instead of all problems.
package config
