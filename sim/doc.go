// Package sim replays workloads in virtual time with production code.
//
//	trace ──▶ Workload ──▶ Cluster: one policy alone, the fastest way
//	  (swf)          └───▶ Grid: sites with their cores, mapped to by the agent's
//	                         │
//	                         ▼
//	                      Outcomes ──▶ Summary, jobs.csv
//
// Experiments read the traces of a Scenario once and run it in several variants:
//
//	Scenario ── Prepare ──▶ Prepared ── Run(Variant) ──▶ Result ──┐
//	                          └──────── Run(reference) ▶ Result ──┴─▶ Compare
//
// A Variant sets the seed for the types of moldable jobs and for the local jobs, the share of
// local jobs, whether all sites have the same speed, and how waiting jobs are reallocated (Y.
// Caniou, G. Charrier, F. Desprez, AusPDC 2011, section 4).
//
// The result of a run depends only on its configuration and workload; it is byte for byte the
// same on any machine and any number of cores. A separate Timing has what depends on the wall
// clock.
//
// Events of one instant are handled in this order: ends, submissions, one scheduling pass.
// Overrun decides whether a job is killed at its walltime or keeps running. Jobs with an
// unknown runtime or width are skipped and counted; jobs with a runtime of 0 are kept.
package sim
