// Package netns makes hosts for tests on one machine: network namespaces of Linux, each
// with an address of its own, on one switch.
//
//	host front  10.7.0.1 ──┐
//	host a1     10.7.0.2 ──┤ switch (a bridge, in a namespace of its own)
//	host a2     10.7.0.3 ─╳┘ its cable is pulled: Cut
//
// A host is a thread of the test's process that lives in its namespace. What it starts
// lives there too, and so does what that starts. The namespaces have no name, and
// nothing of this machine's own network is touched: they are gone with the last process
// in them. Files, users and process numbers are those of this machine, so a common
// directory plays the file system that hosts share.
//
// A host that is cut off keeps all that runs on it; neither side hears that the other is
// gone. One that is turned off loses every process at once, as when its power fails.
package netns
