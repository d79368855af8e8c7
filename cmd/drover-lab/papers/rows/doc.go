// Package rows keeps the rows of an experiment in a folder, so that an experiment that was
// interrupted continues where it stopped.
//
//	Open ── locks DIR ──▶ Dir ─┬─ Begin      about.json: what the rows have in common
//	                           ├─ OpenTable  a file of rows, one line each
//	                           └─ Close      puts the rows in order, unlocks
//
// A row is added as soon as it is known. A line that a crash has cut off is removed when
// the folder is opened again. The package does not know what rows mean.
package rows
