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
//
// # Reservations
//
// An advance reservation is a rectangle in the profile, around which a policy plans,
// and a second, small queue: jobs submitted into it start while it is open, each at
// its earliest place that delays none before it, if they end by its end. Who runs on
// then is killed.
//
//	processors   Reserve     WindowOpen        WindowClose
//	4 ┤          ·           ┌───────────────┐
//	3 ┤ 1 1 1 1 1│           │ 5 5 5 6 6 6   │ 2 2
//	2 ┤ 1 1 1 1 1│           │ 7 7 7 7 7 7 7 │ 2 2
//	1 ┤ 1 1 1 1 1│           └───────────────┘ 2 2
//	  └────────────────────────────────────────▶ time
//
// A policy has Turn look at every event first, calls Serve when a pass begins and
// NextServe in Wake; AnswerWindow and AnswerInside are for its estimates.
//
// A reservation keeps its right. When nodes go down, or a job outside runs on into
// it, it opens with what there is, and nothing starts outside until it has all.
package counted
