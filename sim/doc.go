// Package sim replays workloads in virtual time through the code that runs
// production.
//
//	trace ──▶ Workload ──▶ Cluster: one policy alone, the fastest way
//	  (swf)          └───▶ Grid: sites with their cores, mapped to by the agent's
//	                         │
//	                         ▼
//	                      Outcomes ──▶ Summary, jobs.csv
//
// For experiments the traces of a Scenario are read once, and its runs differ:
//
//	Scenario ── Prepare ──▶ Prepared ── Run(Variant) ──▶ Result ──┐
//	                          └──────── Run(reference) ▶ Result ──┴─▶ Compare
//
// A Variant sets the seed from which the types of moldable jobs and the local users are
// drawn, the share of local users, whether all sites have the same speed, and how waiting
// jobs are reallocated
// (Y. Caniou, G. Charrier, F. Desprez, AusPDC 2011, section 4).
//
// A run is a function of its configuration and workload: the same bytes come
// out, on any machine and any number of cores. What depends on the wall clock is in a
// separate Timing.
//
// At one instant ends come first, then submissions, then one scheduling pass. Overrun
// decides whether a job is killed at its walltime or keeps running. Jobs of unknown runtime
// or width are left out and counted; jobs with a runtime of 0 stay.
package sim
