// Package blobs stores files by content: the key of a content is its SHA-256, and equal content is
// stored once.
//
//	Add ──▶ arriving/ab12...-size ── hash and size right? sync ──▶ ab/ab12...  ◀── Link ── a job's input
//	           │  ▲                         │ no
//	 the sender│  │ Add with an Offset      └▶ removed
//	 fails     ▼  │
//	        kept for a while
//
// Partial content outlives the connection and the process if the sender announced its hash and
// size: Have returns how much has arrived, and a sender of the rest can skip that. Only one sender
// at a time writes to it. Another sender of the same content writes to a separate file (new-*), as
// does a sender that did not announce the content; that file is removed if its sender fails. A
// sender that is silent for a while can be replaced by another one.
//
// A store has a capacity. When it is full it evicts the least recently used content; existing links
// are not affected. Pinned content is never evicted and does not count against the capacity.
// Partial content has separate bounds on number, bytes and age.
package blobs
