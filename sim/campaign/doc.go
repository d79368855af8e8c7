// Package campaign runs all combinations of the scenarios, seeds and reallocation settings in a
// campaign file.
//
//	campaign file ──Load──▶ Campaign ──▶ groups: a reference, and the experiments
//	  (YAML)                                │    that are compared with it
//	                                        ▼
//	                       workers, one experiment on each core
//	                                        │ rows
//	                                        ▼
//	            journal (each row synced) ──▶ results.csv, timing.csv
//
// An experiment is a run of a scenario with one seed and one reallocation setting. Its
// reference is the same run without reallocation: the same jobs with the same types, submitted
// at the same times. A group is a reference and all experiments that are compared with it.
//
// A row depends only on its experiment, so results.csv is byte for byte the same for any number
// of workers and interruptions. timing.csv has what depends on the machine.
//
// A campaign resumes from its journal. For each row, one line with a checksum is appended and
// synced; a torn last line is cut off. The first line identifies the campaign, so rows of two
// campaigns never mix in one folder. Completions of references are not on disk: a resumed
// campaign recomputes the references of its unfinished groups, at most one per worker, and
// checks that they equal the journal.
//
// Source: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation
// Heuristics for Moldable Tasks in Computational Grids", section 4.5.
package campaign
