package queue

import (
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// BlockSize is the number of jobs that a block can hold.
const BlockSize = 64

// Block is a section of the queue. Its arrays run in parallel; the first N elements
// count. A policy reads them in place. It changes only Walltime, and Start through
// Queue.SetStart.
type Block struct {
	N          int
	Least      int32      // smallest charge
	First      batch.Time // no job's Start is earlier
	prev, next int32
	Charge     [BlockSize]int32
	Job        [BlockSize]batch.Handle
	Walltime   [BlockSize]batch.Duration
	Start      [BlockSize]batch.Time // planned start, for policies that plan; Never for none
	seq        [BlockSize]int64
}

// Queue is an ordered list of waiting jobs. The zero Queue is empty.
type Queue struct {
	blocks     []Block
	unused     []int32
	where      []int32 // block of each job in the queue, by handle
	head, tail int32   // blocks; undefined while n is 0
	n          int

	earliest batch.Time // earliest planned start of all jobs, if known
	known    bool
}

// Item is a job as a queue holds it.
type Item struct {
	Job      batch.Handle
	Charge   int32
	Walltime batch.Duration
	Start    batch.Time
	Seq      int64 // position: ascending through the queue
}

// Len returns the number of jobs.
func (q *Queue) Len() int { return q.n }

// Clone returns an independent copy.
func (q *Queue) Clone() Queue {
	c := *q
	c.blocks, c.unused, c.where = slices.Clone(q.blocks), slices.Clone(q.unused), slices.Clone(q.where)
	return c
}

// Head returns the first block, nil if the queue is empty. Its first job is the
// head of the queue.
func (q *Queue) Head() *Block {
	if q.n == 0 {
		return nil
	}
	return &q.blocks[q.head]
}

// Next returns the block after b, nil if b is the last one.
func (q *Queue) Next(b *Block) *Block {
	if b.next < 0 {
		return nil
	}
	return &q.blocks[b.next]
}

// Add inserts a job at its position. It may move the blocks and so invalidates pointers
// to them.
func (q *Queue) Add(it Item) {
	for int(it.Job) >= len(q.where) {
		q.where = append(q.where, -1)
	}
	if q.n == 0 {
		q.head = q.newBlock(-1, -1)
		q.tail = q.head
	}
	at := q.tail
	for q.blocks[at].prev >= 0 && q.blocks[at].seq[0] > it.Seq {
		at = q.blocks[at].prev
	}
	b := &q.blocks[at]
	pos := b.N
	for pos > 0 && b.seq[pos-1] > it.Seq {
		pos--
	}
	if b.N == BlockSize {
		at, pos = q.split(at, pos)
		b = &q.blocks[at]
	}
	b.open(pos)
	b.Charge[pos], b.Job[pos], b.Walltime[pos], b.Start[pos], b.seq[pos] = it.Charge, it.Job, it.Walltime, it.Start,
		it.Seq
	b.Least, b.First = min(b.Least, it.Charge), min(b.First, it.Start)
	q.where[it.Job] = at
	q.n++
	q.earliest = min(q.earliest, it.Start)
}

// Remove removes a queued job.
func (q *Queue) Remove(job batch.Handle) Item {
	return q.RemoveAt(q.Locate(job))
}

// RemoveAt removes the job at position i of block b. An empty block leaves the queue but
// keeps its link, so that a scan can continue from it.
func (q *Queue) RemoveAt(b *Block, i int) Item {
	it := Item{b.Job[i], b.Charge[i], b.Walltime[i], b.Start[i], b.seq[i]}
	at := q.where[it.Job]
	q.where[it.Job] = -1
	q.n--
	q.known = q.known && (it.Start > q.earliest || it.Start == batch.Never)
	b.close(i)
	if b.N == 0 {
		if b.prev >= 0 {
			q.blocks[b.prev].next = b.next
		} else {
			q.head = b.next
		}
		if b.next >= 0 {
			q.blocks[b.next].prev = b.prev
		} else {
			q.tail = b.prev
		}
		q.unused = append(q.unused, at)
		return it
	}
	if it.Charge == b.Least {
		b.Least = slices.Min(b.Charge[:b.N])
	}
	return it
}

// Locate returns the block and position of a queued job.
func (q *Queue) Locate(job batch.Handle) (*Block, int) {
	b := &q.blocks[q.where[job]]
	return b, b.find(job)
}

// SetStart changes the planned start of the job at position i of block b.
func (q *Queue) SetStart(b *Block, i int, t batch.Time) {
	q.known = q.known && (b.Start[i] > q.earliest || t <= q.earliest)
	q.earliest = min(q.earliest, t)
	b.Start[i] = t
	b.First = min(b.First, t)
}

// FirstStart returns the earliest planned start of all jobs, Never if there is none. It
// searches only after the job with that start has left or got a later one, and then makes
// the blocks' First exact.
func (q *Queue) FirstStart() batch.Time {
	if q.known {
		return q.earliest
	}
	q.earliest, q.known = batch.Never, true
	for b := q.Head(); b != nil; b = q.Next(b) {
		if b.First < q.earliest {
			b.First = slices.Min(b.Start[:b.N])
			q.earliest = min(q.earliest, b.First)
		}
	}
	return q.earliest
}

func (q *Queue) newBlock(prev, next int32) int32 {
	var at int32
	if n := len(q.unused); n > 0 {
		at = q.unused[n-1]
		q.unused = q.unused[:n-1]
	} else {
		at = int32(len(q.blocks))
		q.blocks = append(q.blocks, Block{})
	}
	b := &q.blocks[at]
	b.N, b.Least, b.First, b.prev, b.next = 0, math.MaxInt32, batch.Never, prev, next
	return at
}

// split makes room in the full block at, and returns the new block and position of pos. A
// job at the end gets a new block, so a queue that grows only at its end has full blocks.
func (q *Queue) split(at int32, pos int) (int32, int) {
	keep := BlockSize / 2
	if pos == BlockSize {
		keep = BlockSize
	}
	right := q.newBlock(at, q.blocks[at].next)
	b, r := &q.blocks[at], &q.blocks[right]
	if b.next >= 0 {
		q.blocks[b.next].prev = right
	} else {
		q.tail = right
	}
	b.next = right
	r.N = BlockSize - keep
	copy(r.Charge[:], b.Charge[keep:])
	copy(r.Job[:], b.Job[keep:])
	copy(r.Walltime[:], b.Walltime[keep:])
	copy(r.Start[:], b.Start[keep:])
	copy(r.seq[:], b.seq[keep:])
	for _, j := range r.Job[:r.N] {
		q.where[j] = right
	}
	b.N = keep
	b.measure()
	r.measure()
	if pos <= keep && keep < BlockSize {
		return at, pos
	}
	return right, pos - keep
}

func (b *Block) measure() {
	b.Least, b.First = math.MaxInt32, batch.Never
	for i := range b.N {
		b.Least, b.First = min(b.Least, b.Charge[i]), min(b.First, b.Start[i])
	}
}

func (b *Block) find(job batch.Handle) int { return slices.Index(b.Job[:b.N], job) }

// open moves the elements from position i on up by one.
func (b *Block) open(i int) {
	copy(b.Charge[i+1:], b.Charge[i:b.N])
	copy(b.Job[i+1:], b.Job[i:b.N])
	copy(b.Walltime[i+1:], b.Walltime[i:b.N])
	copy(b.Start[i+1:], b.Start[i:b.N])
	copy(b.seq[i+1:], b.seq[i:b.N])
	b.N++
}

// close moves the elements after position i down by one.
func (b *Block) close(i int) {
	copy(b.Charge[i:], b.Charge[i+1:b.N])
	copy(b.Job[i:], b.Job[i+1:b.N])
	copy(b.Walltime[i:], b.Walltime[i+1:b.N])
	copy(b.Start[i:], b.Start[i+1:b.N])
	copy(b.seq[i:], b.seq[i+1:b.N])
	b.N--
}
