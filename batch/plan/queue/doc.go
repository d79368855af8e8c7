// Package queue keeps the waiting jobs of a policy in order.
//
// A scheduling pass asks one thing of a queue, again and again: who, in order,
// is small enough for what is free now? So jobs lie in blocks of up to 64, each
// property in an array of its own, and each block knows the smallest charge in
// it: a pass goes by a block in which nobody fits with one comparison.
//
//	block  ┌ least 4 ─────────┐   ┌ least 16 ────────┐   ┌ least 1 ───┐
//	       │ 8 4 32 4 … 16    │──▶│ 16 64 16 … 32    │──▶│ 2 1 8      │
//	       └──────────────────┘   └──────────────────┘   └────────────┘
//	free = 8:  looked into          gone by                looked into
//
// The order is by sequence number, which the owner hands out: new jobs come
// last, and one that is put back takes its old number.
package queue
