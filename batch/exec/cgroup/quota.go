package cgroup

import "time"

// CPU is an amount of processors in units of 2^-20, those of a policy's shares.
type CPU int64

const (
	// Processor is one processor.
	Processor CPU = 1 << 20
	// Unlimited is the share that is no limit at all.
	Unlimited CPU = 1 << 40

	// MinShare is the least that the kernel holds a group to: 1 ms each second.
	MinShare = (Processor + 999) / 1000
)

// The kernel's limits of a quota, in microseconds: neither may a period be
// longer than maxPeriod, nor a quota shorter than minQuota.
const (
	period    = 100_000
	maxPeriod = 1_000_000
	minQuota  = 1_000
)

// quota is the time in microseconds that a group may run in each period. The
// zero quota is none that was ever written.
type quota struct {
	run    int64 // or -1, no limit
	period int64
}

// quotaOf returns the quota for a share, rounded down so that the shares of a
// processor together are never more than it has. A share whose quota would be
// too short for the kernel has a longer period, and one that is too small even
// for the longest gets MinShare.
func quotaOf(share CPU) quota {
	if share >= Unlimited {
		return quota{run: -1, period: period}
	}
	run := int64(share) * period >> 20
	if run >= minQuota {
		return quota{run: run, period: period}
	}
	if share < MinShare {
		return quota{run: minQuota, period: maxPeriod}
	}
	// minQuota / long <= share: the period is rounded up.
	long := (minQuota<<20 + int64(share) - 1) / int64(share)
	return quota{run: minQuota, period: min(long, maxPeriod)}
}

// share returns what a quota really gives, rounded down.
func (q quota) share() CPU {
	if q.run < 0 {
		return Unlimited
	}
	return CPU(q.run << 20 / q.period)
}

// times returns the time that c processors have in d. It holds for 4,096
// processors and half an hour.
func (c CPU) times(d time.Duration) time.Duration {
	return time.Duration(int64(c) * (int64(d) >> 10) >> 10)
}
