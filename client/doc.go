// Package client is the GridRPC API for Go programs: it submits requests to a
// grid, waits for the jobs, and brings files there and back.
//
//	Client ── Map ──────────────▶ an agent        which site finishes first?
//	Client ── Upload, Submit ───▶ that site's server
//	Client ── WatchJob, … ──────▶ the same, and on to wherever the job moves
//
// A call that gets no answer is repeated for as long as the client's patience
// lasts, at the same server or another according to the rules of package
// session, so that no request is executed twice. The client talks to the first
// agent of the configuration, goes on to the next when one does not answer, and
// stays with the one that does. What takes long by nature has a patience of its
// own: a wait outlives servers that are started anew and follows a job that is
// moved.
//
// What the grid refuses is an [*problem.Problem], which says what would have been
// accepted. A submission that nobody has answered is an [*session.UnknownError]:
// it may have been accepted. A [*session.PatienceError] says how long something
// was tried, where, and what failed. [Rerun] lets a request that may be executed
// twice be started anew when nobody can say what became of it. [Client.Call] gives
// an [*EndError] for a job that did not end well. Everything may be called from
// several goroutines.
//
// Vectors and matrices are files of elements that say what they are: a []float64, a
// [Dense] or a .npy file is sent from where it is, and comes back into another one (see
// [Vector], [Matrix], [Array] and [Client.Fetch]).
//
// [Client.PutData] has content stay at a site under a handle, so that requests use it
// without its being sent again ([Stored]); [Keep] has what a job reads or writes stay.
// The chosen server brings what it does not have before the request is submitted.
//
// # The standard
//
// On top of Client stands the API of the GridRPC standard (Open Grid Forum,
// GFD-R.52): [Initialize] returns a [Grid], which gives out a [Handle] of a service,
// whose calls are positional, and a [Session] of each call that is not waited for.
// Every error there is a [*CodeError]. Nothing runs between two calls: the one who
// waits for a session is the one who follows its job. docs/gridrpc.md maps each C
// function and each code to ours, and says what we do where the standard is vague.
package client
