// Package store keeps what a server must not forget: opaque records by their
// IDs, in one file, each batch of changes written and synced as one transaction.
//
//	                 ┌ one file, PATH ─────────────────────────────────────┐
//	Batch ──Commit──▶│ hot        id → small, rewritten on every change    │──Load──▶ each
//	  Put, PutCold,  │ cold       id → written once, read when asked for   │──Cold──▶
//	  Bury, Delete,  │ tombstones id → until when, what is left of it      │──Tombstone──▶
//	  SetMeta        │ until      (until when, id): which tombstones go    │◀─Expire(now)
//	                 │ meta       key → what belongs to no id              │──Meta──▶
//	                 │ about      schema version, name of the site         │
//	                 └─────────────────────────────────────────────────────┘
//
// An id is unknown, alive (it has a hot record and perhaps a cold one) or buried
// (it has a tombstone). Put makes it alive, Bury buries it, Delete makes it
// unknown.
//
// # What is promised
//
// After Commit has returned nil the whole batch is there, whatever is killed
// then; after it returned an error none of it is. The one case in between, a
// disk that fails at the very last step, ends the store with a BrokenError: only
// a new Open can tell. A full disk is a FullError, and commits work again once
// there is room.
//
// # What is refused
//
// Open refuses a file that is damaged, of a newer schema, of another site, or
// open already, and leaves every byte of it as it was. bbolt trusts what it
// reads: it follows a damaged page to a crash, and it takes a header that does
// not check out for one torn by a crash, which would silently undo a commit that
// somebody was told of. So Open first reads the file's structure itself (check.go).
// bbolt does not check values either, so each has a checksum over its key and
// content, tested whenever it is read.
//
// Source: the page layout is that of go.etcd.io/bbolt 1.x, file format 2.
package store
