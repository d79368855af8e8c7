// Package submission is the client's core: it decides where a request is submitted,
// what is tried again and where, and how a job is followed when it moves. It has no
// clock, no I/O and no goroutines: a driver carries out the last [Action] and reports
// the result with the present time.
//
//	Submission   Map ──▶ Submit ──────────────▶ Done
//	              ▲        │  ▲ no answer: the same site again
//	              │        ▼  │
//	              │      Withdraw ─ accepted ─▶ Done
//	              └────────┘ withdrawn, or nothing was sent: the next site
//
//	Pursuit      Find ──▶ Visit ──▶ Done
//	              ▲         │ moved away, silent or unknown there: ask the agents
//	              └─ Pause ─┘
//
// # Submitting once
//
// A job belongs to the first server that its submission was sent to, because that
// server may have accepted it although its answer was lost. The same job can be
// submitted to another server only after a call that provably sent nothing, or after
// the server has answered that it withdrew the job and will never accept it. Until
// then the job is submitted to the same server, which gives the same answer. When
// patience runs out, its state is unknown: [UnknownError]. A request that may be
// executed twice can then make a new attempt under another ID: [Rerun].
//
// # Following
//
// A job has one authority at a time. A pursuit visits the server that it knows. It
// asks the agents when that server does not answer or no longer has the job, accepts
// only claims that are not older than what it has seen (epochs), and gives up after
// [MaxHops] moves.
package submission
