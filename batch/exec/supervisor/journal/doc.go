// Package journal is the file of one attempt: who decides about it, which
// process it became, and how that ended. A supervisor and the server read the
// same file.
//
//	DIR/E-A, for epoch E and attempt A of the job that has DIR
//
//	{"v":1,"claim":"supervisor","by":"ID","at":…}    made once, with the file
//	{"pid":4711,"start":99,"boot":"…","at":…}        before the gate is opened
//	{"exit":0,"at":…}                                or another end
//
// Whoever makes the file decides whether the attempt runs: a supervisor makes it
// to run it, a server to be sure that nobody will. The file appears under its
// name with the claim in it (a synced temporary file, then link(2)), and every
// answer is durable before it is given. Only the supervisor that holds the lock
// of the data directory appends, one synced line at a time.
//
// The ends:
//
//	{"exit":3}               its exit code
//	{"signal":"SIGKILL"}     the signal that ended it
//	{"failed":"reason"}      it could not be executed
//	{"never":"reason"}       the process ended at its gate
//	{"lost":"reason"}        it may have run, and nobody saw its end
//
// A last line without its newline was being written when the host or the writer
// died: it is not there. Anything else that is not as above is a [DamagedError].
package journal
