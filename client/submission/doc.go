// Package submission is the client's core: where a request is submitted, what is
// tried again and where, and how a job is followed to wherever it moves. It has
// no clock, no I/O and no goroutine: its driver does what the last [Action]
// says, and tells it what came of that and when.
//
//	Submission   Map ──▶ Submit ──────────────▶ Done
//	              ▲        │  ▲ no answer: the same site again
//	              │        ▼  │
//	              │      Withdraw ─ accepted ─▶ Done
//	              └────────┘ withdrawn, or nothing was sent: the next site
//
//	Pursuit      Find ──▶ Visit ──▶ Done
//	              ▲         │ gone, silent or unknown there: ask the agents
//	              └─ Pause ─┘
//
// # Submitting once
//
// A job belongs to the first server that its submission was sent to, because
// that server may have accepted it without being heard. Only after a call that
// provably sent nothing, or the server's word that it has withdrawn the job and
// never will take it, may the same job be submitted elsewhere. Until then it is
// submitted to the same server, which gives the same answer, and when patience
// runs out, the truth is that nobody knows: [UnknownError]. A request that may
// be executed twice can then be started anew under another ID: [Rerun].
//
// # Following
//
// A job has one authority at a time. A pursuit goes to the server it knows,
// asks the agents when that one does not answer or has the job no more, accepts
// only claims that are not older than what it has seen (epochs), and gives up
// after [MaxHops] moves.
package submission
