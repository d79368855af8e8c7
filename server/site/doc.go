// Package site is the core of a server: what one site answers to requests and
// what it knows about its jobs.
//
//	             Question                      shapes             starts
//	RPC face ──────────────▶ Quote, Quotes ──────────▶ Planner ──────────┐
//	   ▲                          ▲                                      │
//	   │ shape, wait, run         └────────── earliest completion ◀──────┘
//	   │
//	   └── Submit ──▶ record ──▶ Command ──▶ batch system
//	                     ▲                        │
//	                     └── Starting, Running, Ended
//
// A site turns a request into a menu of shapes (by the service's performance
// model, or one that the request brings along), asks a planner when each of
// them would start, and takes the one that would be completed first: moldable
// tuning, section 3.2.1 of the paper. A quote only says so; a submission tunes
// anew, because the queue has changed since the quote, and keeps the job.
//
// The site is a plain state machine. It has no clock, reads no file and starts
// nothing: now is an argument, effects are returned as commands. The simulator
// drives the same code. One goroutine at a time may use a Site.
package site
