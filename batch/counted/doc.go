// Package counted is what the policies share that count processors and do not
// care which ones they are: FCFS, EASY and CBF.
//
// It keeps the jobs and their states, the queue in order, the number of
// processors that are free now, and a profile of what will be free. The policies
// add what is theirs: who may start, and whether waiting jobs have a place in
// the profile.
//
//	        ┌─────────┐ EarliestStart ┌─────────┐  Begin  ┌─────────┐
//	Submit ▶│ parked  │──────────────▶│ waiting │────────▶│ running │▶ Finish
//	        └─────────┘               └─────────┘         └─────────┘
//	                              Hold │  ▲ Place    StartFailed │
//	                                   ▼  │                      ▼
//	                                  held          (waiting, at its old place)
//
// A policy that plans has no parked jobs: one that must not start yet gets its
// place in the plan when it is submitted, like everybody else.
//
// A job that has been reserved for a move (incoming) stands in the queue like a
// waiting one, and is passed over until it is confirmed. Held, it keeps its place in
// the order alone; placed again it is confirmed.
//
// A job that ran before its driver began (adopted) is running from the first.
//
// A job that runs on past its walltime would have the profile promise what is
// not there. Settle finds such jobs and books them for as long again as they
// have overrun, at least a second, so that a job that overruns by x is looked at
// log2(x) times.
package counted
