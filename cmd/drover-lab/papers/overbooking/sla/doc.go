// Package sla sells the time of one machine by agreements, and counts what becomes of
// them.
//
//	trace ──▶ demand: windows drawn by seed ──▶ Run: ask ─▶ accept or refuse ─▶ keep
//	                                                 │                          or break
//	                                                 └──▶ Account
//
// Each job of a trace comes, when it was submitted, as one of two kinds:
//
//   - fixed: it wants the processors at exact times, as for an interactive session:
//     from an hour to a day after it has come, and for its estimate
//   - agreed: it wants to be completed in a window. Some may begin at once; of others
//     the window begins up to a day later. It is as long as the estimate and, beyond
//     that, some part of it (the slack): how tight the window is
//
// It is accepted if the policy's plan can keep it, and refused for good otherwise. It
// runs for as long as in the trace, and is killed when its estimate is used up.
//
// # Payment
//
// An accepted job is worth its processors times its estimate, in processor hours. Its
// user pays that if the provider has given what was agreed: the job was completed in
// time, or has used up all of its estimate (its user asked for too little). Otherwise
// the provider has broken the agreement: it gets nothing and pays a penalty, a multiple of
// the worth.
//
// What is drawn for a job depends only on the seed and on its number in the trace: runs
// with other settings meet the same demand.
package sla
