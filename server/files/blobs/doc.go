// Package blobs keeps files by what is in them: content goes by its SHA-256, and
// the same content is kept once.
//
//	Add ──▶ arriving/ab12...-size ── hash and size right? sync ──▶ ab/ab12...  ◀── Link ── a job's input
//	           │  ▲                         │ no
//	 the sender│  │ Add with an Offset      └▶ removed
//	 breaks off▼  │
//	        stays there, for a while
//
// What has arrived of content whose name and size were said outlives a connection
// that breaks, and the store's process: Have says how much there is, and who sends
// the rest need not send that again. One sender at a time writes to it; another one
// of the same content writes to a file of its own (new-*), as does who cannot say
// what comes, and that goes when its sender breaks off. A sender from whom nothing
// comes for a while loses its place to one who goes on.
//
// A store has a size. When it is full what has not been used for longest goes;
// links that were made of it stay as they are. What is pinned never goes, and does
// not count against the size. What is only arriving has bounds of its own: number,
// bytes, and age.
package blobs
