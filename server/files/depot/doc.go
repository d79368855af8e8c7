// Package depot is what a site remembers of the data that stay there under handles.
//
//	Put ──▶ pin in blobs ──▶ room? ──▶ data/ID, synced ──▶ Get, Use, List
//	                          │ no: evict                      │
//	                          ▼                                ▼ Remove, the end of a job
//	       volatile, then copies, then persistent,        gone/ID: what became of them,
//	       the least recently used first; sticky never    for a while
//
// A handle is a UUIDv7 that a client has made. What it names never changes: content,
// by its SHA-256, with what its elements are if it is an array, a mode, an owner.
// The content is in package blobs like all other, once for all handles that name it,
// and pinned there for as long as there is one.
//
// # Room
//
// A depot has a quota, and one for each owner. The same content counts once: once at
// the site, and once for each owner who has a handle of it. To make room whole
// contents go, with all handles that name them, so that nobody loses a handle for
// nothing. If all that may go would not be enough nothing goes, and the data are
// refused.
//
// # Modes
//
// They are those of the GridRPC data management standard (GFD-R-P.186): volatile data
// go when the first job that has used them ends, sticky ones stay until they are
// removed, persistent ones until then or until somebody else needs the room.
//
// # Disk
//
// Each handle has a small file, which is written, synced and renamed before anybody
// hears of it. The time of its last use is the file's own, unsynced: after a power
// failure the order of eviction may be an older one. A file that is damaged is
// named, left where it is, and passed over.
package depot
