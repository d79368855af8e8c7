package mapping

import "github.com/seed-9b8f70bb/drover/batch"

// Link is the way of input data to a site.
type Link struct {
	Bandwidth int64          // bytes per second; 0: what is sent is there at once
	Latency   batch.Duration // before the first byte arrives
}

// Transfer returns how long bytes need: latency plus bytes over bandwidth,
// rounded up. No bytes need no time.
func (l Link) Transfer(bytes int64) batch.Duration {
	if bytes <= 0 {
		return 0
	}
	if l.Bandwidth <= 0 {
		return l.Latency
	}
	return plus(batch.Second.Times(bytes, l.Bandwidth), l.Latency)
}

// Pair is a way from one place to another. A place is a site's name, or "" for
// the clients.
type Pair struct{ From, To string }

// Links are the ways between places.
type Links struct {
	Default Link
	Pairs   map[Pair]Link // where Default is wrong
}

// Transfer returns how long bytes need between two places. Data that is at the
// site already needs no time.
func (l *Links) Transfer(from, to string, bytes int64) batch.Duration {
	if from == to {
		return 0
	}
	if link, ok := l.Pairs[Pair{from, to}]; ok {
		return link.Transfer(bytes)
	}
	return l.Default.Transfer(bytes)
}

// Known returns how long bytes need from one site to another, and whether that is
// known: there is something to travel, and somebody has said how fast. It is not
// what a move costs where there is nothing to travel.
func (l *Links) Known(from, to string, bytes int64) (batch.Duration, bool) {
	_, said := l.Pairs[Pair{from, to}]
	return l.Transfer(from, to, bytes), bytes > 0 && (said || l.Default != Link{})
}

// plus returns a+b for durations that are not negative, at most Forever.
func plus(a, b batch.Duration) batch.Duration {
	if a > batch.Forever-b {
		return batch.Forever
	}
	return a + b
}
