package cgroup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseCPUs is the reverse of formatCPUs. No processor at all is an empty text.
func parseCPUs(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from || to > mostCPU || len(all) > mostCPU {
			return nil, fmt.Errorf("processors %q: want numbers up to %d and ranges of them", text, mostCPU)
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all, nil
}

// mostCPU is above the number of any processor that Linux has.
const mostCPU = 1 << 14

// formatCPUs writes numbers of processors as the kernel reads them: 0-2,7.
func formatCPUs(cpus []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var b strings.Builder
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(sorted[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(sorted[j]))
		}
		i = j + 1
	}
	return b.String()
}
