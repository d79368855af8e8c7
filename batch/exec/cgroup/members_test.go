package cgroup

import (
	"testing"
	"time"
)

// The processes have numbers that no machine has, so that they have no clock.
const someone = 1 << 23

func TestWhatAChildUsedIsCountedOnce(t *testing.T) {
	parent := stat{pid: someone, group: someone, start: 1}
	child := stat{pid: someone + 1, group: someone, start: 2}
	after := func(waited time.Duration) stat {
		p := parent
		p.children = waited
		return p
	}
	for name, tc := range map[string]struct {
		lived time.Duration // counted while the child lived
		then  []stat
		want  time.Duration
	}{
		"one that nobody saw":                   {0, []stat{after(time.Second)}, time.Second},
		"one that was counted while it lived":   {700 * time.Millisecond, []stat{after(time.Second)}, time.Second},
		"one that another has waited for":       {700 * time.Millisecond, []stat{parent}, 700 * time.Millisecond},
		"one that is there still":               {700 * time.Millisecond, []stat{parent, child}, 700 * time.Millisecond},
		"another that has its number by now":    {700 * time.Millisecond, []stat{after(time.Second), {pid: someone + 1, start: 3}}, time.Second},
		"one that used more than was told then": {2 * time.Second, []stat{after(time.Second)}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMembers(&table{})
			m.count([]stat{parent, child})
			m.known[child.pid].counted, m.total = tc.lived, tc.lived
			m.count(tc.then)
			if m.total != tc.want {
				t.Errorf("counted %v, want %v", m.total, tc.want)
			}
		})
	}
}

func TestThePeakOfSignalsIsTheMostThatWasSeen(t *testing.T) {
	m := newMembers(&table{})
	for _, resident := range []int64{5, 9, 3} {
		m.count([]stat{{pid: someone, resident: resident}, {pid: someone + 1, resident: 1}})
	}
	if m.memory != 4 || m.peak != 10 {
		t.Errorf("memory %d, peak %d, want 4 and 10", m.memory, m.peak)
	}
}

func TestANumberThatAnotherHasByNowIsNotSignalled(t *testing.T) {
	mine := stat{pid: someone, group: someone, start: 1, state: 'S'}
	other := stat{pid: someone, group: someone, start: 2, state: 'S'}
	table := &table{proc: t.TempDir(), at: time.Now(), by: map[int][]stat{someone: {mine}}}
	m := newMembers(table)
	m.leaders[someone] = mine.start
	if there, err := m.refresh(time.Hour); err != nil || len(there) != 1 {
		t.Fatalf("members: %+v, %v", there, err)
	}
	table.by = map[int][]stat{someone: {other}}
	if there, err := m.refresh(time.Hour); err != nil || len(there) > 0 || len(m.leaders) > 0 {
		t.Errorf("members: %+v, %v; process groups: %v, want none", there, err, m.leaders)
	}
}
