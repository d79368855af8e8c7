// Package campaign runs many experiments of the simulator: all combinations of
// scenarios, seeds and ways to reallocate that a file lists.
//
//	campaign file ──Load──▶ Campaign ──▶ groups: a reference, and the experiments
//	  (YAML)                                │    that are compared with it
//	                                        ▼
//	                       workers, one experiment on each core
//	                                        │ rows
//	                                        ▼
//	            journal (each row synced) ──▶ results.csv, timing.csv
//
// An experiment is a run of a scenario with one seed and one way to reallocate.
// Its reference is the same run without reallocation: the same jobs, at the same
// instants, of the same types. A group is a reference and all experiments that
// are compared with it.
//
// A row is a function of its experiment, so results.csv has the same bytes
// whatever the number of workers is and however often a campaign was interrupted.
// What depends on the machine is in timing.csv.
//
// A campaign resumes from its journal: one line with a checksum is appended and synced for
// each row, and a last line that a crash has torn is cut off. The first line identifies the
// campaign, so that rows of two campaigns never mix in one folder. Completions of references are not kept on disk: an
// interrupted campaign computes again the references of the groups it was in, one
// for each worker at most, and sees that they come out as the journal has them.
//
// Source: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation
// Heuristics for Moldable Tasks in Computational Grids", section 4.5.
package campaign
