// Package gridrpc is the API of the GridRPC standard (Open Grid Forum, GFD-R.52),
// with the data management of GFD-R-P.186, on top of package client.
//
// [Initialize] returns a [Grid], a Grid returns a [Handle] of a service, and a
// Handle's calls are positional. An asynchronous call returns a [Session]. Every
// error is a [*CodeError] with a [Code] of the standard. There is no background
// work: the goroutine that waits for a session follows its job.
//
// docs/gridrpc.md maps each C function and each code to ours, and says what we do
// where the standard is vague.
package gridrpc
