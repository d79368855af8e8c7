// Package store keeps a server's durable state: opaque records by ID in one file. Each
// batch of changes is written and synced as one transaction.
//
//	                 ┌ one file, PATH ────────────────────────────────────┐
//	Batch ──Commit──▶│ hot        id → small, rewritten on every change   │──Load──▶ each
//	  Put, PutCold,  │ cold       id → written once, read on demand       │──Cold──▶
//	  Bury, Delete,  │ tombstones id → expiry, rest of the record         │──Tombstone──▶
//	  SetMeta        │ until      (expiry, id): index of the tombstones   │◀─Expire(now)
//	                 │ meta       key → values without an id              │──Meta──▶
//	                 │ about      schema version, name of the site        │
//	                 └────────────────────────────────────────────────────┘
//
// An id is unknown, alive (it has a hot record and perhaps a cold one) or buried
// (it has a tombstone). Put makes it alive, Bury buries it, Delete makes it
// unknown.
//
// # Guarantees
//
// After Commit returns nil, the whole batch survives a kill of the process or a crash of
// the machine. After Commit returns an error, no part of the batch is stored. There is one
// exception: if the disk fails at the last step of a commit, the store returns a
// BrokenError, and only a new Open finds out what is stored. A full disk causes a
// FullError; commits work again once there is free space.
//
// # Refused files
//
// Open refuses a file that is damaged, has a newer schema, belongs to another site or is
// already open, and does not change it. bbolt trusts the file: it follows a damaged page
// until it crashes, and it takes a header with a wrong checksum for one torn by a crash,
// which would silently undo an acknowledged commit. Therefore Open first checks the file's
// structure itself (check.go). bbolt does not check values either, so each record has a
// checksum over its key and content, verified at every read.
//
// Source: the page layout is that of go.etcd.io/bbolt 1.x, file format 2.
package store
