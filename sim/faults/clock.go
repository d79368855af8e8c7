package faults

import "github.com/seed-9b8f70bb/drover/batch"

// clock is what a site takes for the time during one life of its server. It runs
// at a speed of its own and never goes back; that it was set back shows after the
// next restart.
type clock struct {
	from  batch.Time // true time at which this life began
	shows batch.Time // what it showed then
	rate  int64      // in 1/1024 of the true speed
}

// unit is the rate of a clock that is right.
const unit = 1024

// read returns what the clock shows at a true instant.
func (c *clock) read(true batch.Time) batch.Time {
	return c.shows + batch.Time(int64(true-c.from)*c.rate/unit)
}

// when returns the first true instant at which the clock shows so much.
func (c *clock) when(shown batch.Time) batch.Time {
	if shown == batch.Never {
		return batch.Never
	}
	if shown <= c.shows {
		return c.from
	}
	return c.from + batch.Time((int64(shown-c.shows)*unit+c.rate-1)/c.rate)
}
