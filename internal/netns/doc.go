// Package netns simulates hosts for tests on one machine: Linux network namespaces, each
// with its own address, connected by one switch.
//
//	host front  10.7.0.1 ──┐
//	host a1     10.7.0.2 ──┤ switch (a bridge, in its own namespace)
//	host a2     10.7.0.3 ─╳┘ disconnected: Cut
//
// A host is a thread of the test's process in its namespace. The processes that it
// starts run there too, with all their children. The namespaces have no name and do not
// touch the machine's own network; they disappear with their last process. Files, users
// and process numbers are those of the machine, so a common directory serves as the file
// system that hosts share.
//
// A host that is cut off keeps its processes; neither side is notified. A host that is
// turned off loses all processes at once, as in a power failure.
package netns
