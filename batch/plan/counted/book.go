package counted

import "github.com/seed-9b8f70bb/drover/batch"

// Book extends the booking of a running job from now, where it ends, until end. The job
// counts as overrunning only after that.
func (b *Base) Book(now, end batch.Time, h batch.Handle) {
	j := &b.jobs[h]
	r := &b.running[j.at]
	b.Profile.Reserve(max(now, r.end), end, j.Charge)
	r.end = end
	j.Walltime = end.Sub(r.start)
}
