// Package client is the Go API of Drover: it submits requests to a grid, waits for
// the jobs, and transfers files.
//
//	Client ── Map ──────────────▶ an agent        which site finishes first?
//	Client ── Upload, Submit ───▶ that site's server
//	Client ── WatchJob, … ──────▶ the same, and every site the job moves to
//
// A call without an answer is repeated until patience runs out, at the same server
// or another by the rules of package [submission], so that no request is executed
// twice. The client talks to the first agent of its configuration, and to the next
// one when an agent does not answer. Long operations have their own patience: a
// wait survives restarts of servers and follows a job that is moved.
//
// # Errors
//
// What the grid refuses is a [*problem.Problem]: it names the reason and what would
// have been accepted. A submission without an answer is a
// [*submission.UnknownError]: the job may run; [Rerun] lets an idempotent request
// make a new attempt. A [*submission.PatienceError] says how long, how often and
// where something was tried. [Client.Call] returns an [*EndError] for a job that did
// not end well.
//
// # Values and their JSON
//
// A [Job], [Site], [Data] and so on mirrors a message of drover.v1, by the tags of
// its fields. Its JSON is that of the message, which is what the HTTP API returns
// and what drover --json prints.
//
// # Files, arrays and data
//
// Files travel over plain HTTP, and resume after a broken connection. Vectors and
// matrices are files of elements with a type: a []float64, a [Dense] or a .npy file
// is sent without a copy, and fetched into another one ([Vector], [Matrix], [Array],
// [Client.Fetch]). [Client.PutData] stores content at a site under a handle, and
// [Stored] uses it in requests without sending it again; [Keep] stores what a job
// reads or writes. The chosen server copies what it lacks before the submission.
//
// Package gridrpc has the API of the GridRPC standard on top of this one.
package client
