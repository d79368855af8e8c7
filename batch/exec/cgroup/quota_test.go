package cgroup

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQuotaOfAShare(t *testing.T) {
	for name, tc := range map[string]struct {
		share CPU
		want  quota
	}{
		"half":                          {Processor / 2, quota{50_000, 100_000}},
		"a third is rounded down":       {Processor / 3, quota{33_333, 100_000}},
		"more than a processor":         {5 * Processor / 2, quota{250_000, 100_000}},
		"the least in a usual period":   {Processor/100 + 1, quota{1_000, 100_000}},
		"less has a longer period":      {Processor / 200, quota{1_000, 200_034}},
		"the least of all":              {MinShare, quota{1_000, 999_596}},
		"below the least":               {MinShare - 1, quota{1_000, 1_000_000}},
		"nothing is the least":          {0, quota{1_000, 1_000_000}},
		"no limit":                      {Unlimited, quota{-1, 100_000}},
		"the largest that is one still": {Unlimited - 1, quota{(1<<40 - 1) * 100_000 >> 20, 100_000}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quotaOf(tc.share); got != tc.want {
				t.Errorf("quotaOf(%d) = %+v, want %+v", tc.share, got, tc.want)
			}
		})
	}
}

func TestEveryQuotaIsOneTheKernelAcceptsAndNotMoreThanTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := CPU(rapid.Int64Range(0, int64(Unlimited)-1).Draw(t, "share"))
		if rapid.Bool().Draw(t, "small") {
			share %= 4 * Processor
		}
		q := quotaOf(share)
		if q.run < 1000 || q.period < 1000 || q.period > 1_000_000 {
			t.Fatalf("%+v is not a quota", q)
		}
		given := q.share()
		if given > share && share >= MinShare {
			t.Fatalf("%d gives %d, which is more", share, given)
		}
		// A microsecond of a period is lost at most, 10^-5 of a processor.
		if lost := share - given; lost > Processor/100_000+1 {
			t.Fatalf("%d gives %d", share, given)
		}
	})
}
