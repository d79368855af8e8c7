// Package depot is the registry of the data that a site keeps under handles.
//
//	Put ──▶ pin in blobs ──▶ fits? ──▶ data/ID, synced ──▶ Get, Use, List
//	                          │ no: evict                      │
//	                          ▼                                ▼ Remove, the end of a job
//	       volatile, then copies, then persistent,        gone/ID: what became of them,
//	       the least recently used first; sticky never    for a while
//
// A handle is a UUIDv7 that a client generates. What it names never changes: content, by its
// SHA-256, the element type if it is an array, a mode and an owner. The content is in package
// blobs, once for all handles that name it, and is pinned while there is a handle.
//
// # Quotas
//
// A depot has a quota, and one for each owner. Equal content counts once at the site, and once for
// each owner that has a handle of it. Eviction removes whole contents with all their handles,
// because removing only some of the handles frees nothing. If evicting everything possible would
// not free enough space, nothing is evicted and the new data are refused.
//
// # Modes
//
// The modes are those of the GridRPC data management standard (GFD-R-P.186). Volatile data are
// removed when the first job that uses them ends, sticky data only on request, persistent data on
// request or by eviction.
//
// # Disk
//
// Each handle has a small file, which is written, synced and renamed before a call is answered. The
// time of the last use is the file's modification time, which is not synced: after a power failure
// eviction may use an older order. A damaged file is reported, left in place and skipped.
package depot
