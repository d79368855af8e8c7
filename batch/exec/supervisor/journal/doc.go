// Package journal reads and writes the file of one attempt: the claim that decides
// whether it runs, the process it became, and its end. A supervisor and the server read
// the same file.
//
//	DIR/E-A, for epoch E and attempt A of the job that has DIR
//
//	{"v":1,"claim":"supervisor","by":"ID","at":…}    made once, with the file
//	{"pid":4711,"start":99,"boot":"…","at":…}        before the gate is opened
//	{"exit":0,"at":…}                                or another end
//
// The creator of the file decides whether the attempt runs: a supervisor creates it to
// run the attempt, a server to make sure that it never runs. The file appears under its
// name with the claim in it (a synced temporary file, then link(2)), and every answer is
// durable before it is returned. Only the supervisor that holds the lock of the data
// directory appends, one synced line at a time.
//
// The ends:
//
//	{"exit":3}               its exit code
//	{"signal":"SIGKILL"}     the signal that ended it
//	{"failed":"reason"}      it could not be executed
//	{"never":"reason"}       the process ended at its gate
//	{"lost":"reason"}        it may have run, and its end was not observed
//
// A last line without a newline was being written when the host or the writer died; it
// is ignored. Any other deviation from the format is a [DamagedError].
package journal
