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
// A Variant says from which seed types of moldable jobs and local users are drawn,
// how many those are, whether sites are alike, and how waiting jobs are reallocated
// (Y. Caniou, G. Charrier, F. Desprez, AusPDC 2011, section 4).
//
// A run is a function of its configuration and workload: the same bytes come
// out, on any machine and any number of cores. What depends on the wall clock is
// a Timing, which is kept apart.
//
// At one instant ends come first, then submissions, then one scheduling pass. A
// job that would outlive its walltime is killed at it, or runs on: Overrun. Jobs
// whose runtime or width is not known are left out and counted; a runtime of 0
// stays.
package sim
