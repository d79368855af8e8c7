// Package blobs keeps files by what is in them: content goes by its SHA-256, and
// the same content is kept once.
//
//	Add ──▶ new-*  ── hash and size right? sync ──▶ ab/ab12...  ◀── Link ── a job's input
//	         │ no
//	         └▶ removed
//
// A store has a size. When it is full what has not been used for longest goes;
// links that were made of it stay as they are.
package blobs
