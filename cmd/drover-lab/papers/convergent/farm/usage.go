package farm

import "github.com/seed-9b8f70bb/drover/batch"

// usage integrates what of the farm is in use, over what could be.
type usage struct {
	machines, running int
	copies            []int32
	requests          []int32 // of each license: jobs in the system that ask for it
	held, could       int     // copies of all licenses: in use, and that could be

	time, machine        float64 // while there are jobs, in units
	licenseTime, license float64 // while there are jobs that ask for one
}

func newUsage(in *Instance) usage {
	return usage{machines: len(in.Machines), copies: in.Copies, requests: make([]int32, len(in.Copies))}
}

// pass integrates over a time in which nothing has changed, with so many jobs there.
func (u *usage) pass(d batch.Duration, there int) {
	t := units(d)
	if there > 0 {
		u.time += t
		u.machine += float64(t * float64(u.running) / float64(min(u.machines, there)))
	}
	if u.could > 0 {
		u.licenseTime += t
		u.license += float64(t * float64(u.held) / float64(u.could))
	}
}

// asked says that a job that asks for licenses has come, by 1, or gone, by -1.
func (u *usage) asked(licenses []int32, by int32) {
	for _, l := range licenses {
		before := min(u.copies[l], u.requests[l])
		u.requests[l] += by
		u.could += int(min(u.copies[l], u.requests[l]) - before)
	}
}

// active says that a job with licenses begins to use a machine, by 1, or ceases, by -1.
func (u *usage) active(licenses []int32, by int) {
	u.running += by
	u.held += by * len(licenses)
}

// means returns the means over time, 0 where there was nothing to be used.
func (u *usage) means() (machine, license float64) {
	if u.time > 0 {
		machine = u.machine / u.time
	}
	if u.licenseTime > 0 {
		license = u.license / u.licenseTime
	}
	return machine, license
}
