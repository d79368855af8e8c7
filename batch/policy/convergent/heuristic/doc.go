// Package heuristic holds the heuristics of convergent scheduling: each looks at one
// thing, and adds points to the Job-Machine matrix (package farm) for it.
//
//	requirements   which machines can run the job at all; every other entry is 0
//	deadline       the closer to its deadline, the more, and more on fast machines
//	licenses       those that hold many licenses, scarce ones above all, go first
//	input          where less of the input data would have to be moved
//	wait           those that soon end go first, and to fast machines
//	overhead       a job stays where the last plan had it
//	aging          the longer a job is there, the more
//
// A Collection is a list of them and fills a matrix in one pass:
//
//	Begin, each heuristic ──▶ for each row:  Look, each ──▶ Base, and a key
//	                                           │
//	                          keys as in the last pass?  then the cells stay as they are
//	                                           └─ else:  Write, each ──▶ cells
//
// So the cells of a row are computed again only when what they follow from has changed:
// the job runs, it is in the last phase before its deadline, the plan has put it
// elsewhere, or it is new. All other jobs cost a few additions each, however many
// machines there are. The result is the same as that of a pass from nothing.
//
// To add a heuristic write a file with its type and add a line to Constants.Heuristics.
//
// Where the paper leaves a case open, the comment of the heuristic says what is done.
// Nothing is subtracted from an entry: those that are eligible stay positive.
//
// Numbers: constants are exact decimals. What is computed with floating point is
// computed in operations that are each rounded once, in an order that is fixed (none is
// fused with another), is rounded to units of 2^-20 when it is added, and is compared
// with nothing. An entry is within a unit for each heuristic of the exact value.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, section 4.1; the constants are those of its footnote 1.
package heuristic
