// Package queue keeps the waiting jobs of a policy in order.
//
// A scheduling pass searches the queue, in order, for jobs that fit the free
// processors. So jobs are stored in blocks of up to 64, one array for each property,
// and each block keeps its smallest charge: a pass skips a block in which no job fits
// with one comparison.
//
//	block  ┌ least 4 ─────────┐   ┌ least 16 ────────┐   ┌ least 1 ───┐
//	       │ 8 4 32 4 … 16    │──▶│ 16 64 16 … 32    │──▶│ 2 1 8      │
//	       └──────────────────┘   └──────────────────┘   └────────────┘
//	free = 8:  searched             skipped                searched
//
// The order is by sequence number, which the owner assigns: new jobs come last, and a
// job that is put back keeps its number.
package queue
