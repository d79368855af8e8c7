// Package config reads configuration files: YAML over a struct that holds the
// defaults. Every problem is told at once, each with its line, its key, what was
// given and what is accepted:
//
//	file ──Read──▶ struct, and what does not fit it (unknown keys, wrong types)
//	                  │
//	          its own Validate: ranges
//	                  │
//	               Check ──▶ one error, in the order of the lines
//
// Values carry units: a time is written 90s, a size 4GiB, a rate 125MB/s.
package config
