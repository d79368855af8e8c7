package matching

import "slices"

// best finds the matching with the most associations and the largest sum by successive longest
// paths over plain numbers: no prices, no bonus, Bellman-Ford.
func best(p [][]int64, machines int) (associations int, sum int64) {
	on := slices.Repeat([]int32{Free}, machines)
	at := slices.Repeat([]int32{Free}, len(p))
	const none = -1 << 62
	for {
		job := slices.Repeat([]int64{none}, len(p)) // the longest path to each
		machine := slices.Repeat([]int64{none}, machines)
		from := make([]int32, machines)
		for i := range p {
			if at[i] == Free {
				job[i] = 0
			}
		}
		for changed := true; changed; {
			changed = false
			for i := range p {
				for m, v := range p[i] {
					if v > 0 && job[i] > none && at[i] != int32(m) && job[i]+v > machine[m] {
						machine[m], from[m], changed = job[i]+v, int32(i), true
						if j := on[m]; j != Free {
							job[j] = machine[m] - p[j][m]
						}
					}
				}
			}
		}
		end := Free
		for m := range machine {
			if on[m] == Free && machine[m] > none && (end == Free || machine[m] > machine[end]) {
				end = int32(m)
			}
		}
		if end == Free {
			return associations, sum
		}
		sum += machine[end]
		associations++
		for end != Free {
			i := from[end]
			before := at[i]
			on[end], at[i] = i, end
			end = before
		}
	}
}

// try tries all matchings.
func try(p [][]int64, used []bool) (associations int, sum int64) {
	if len(p) == 0 {
		return 0, 0
	}
	associations, sum = try(p[1:], used)
	for m, v := range p[0] {
		if v <= 0 || used[m] {
			continue
		}
		used[m] = true
		n, s := try(p[1:], used)
		used[m] = false
		if n++; n > associations || n == associations && s+v > sum {
			associations, sum = n, s+v
		}
	}
	return associations, sum
}

// naiveMIS takes the largest remaining entry, again and again.
func naiveMIS(p [][]int64, machines int) []int32 {
	plan := slices.Repeat([]int32{Free}, machines)
	used := make([]bool, len(p))
	for {
		var most int64
		row, on := Free, Free
		for i := range p {
			for m, v := range p[i] {
				if !used[i] && plan[m] == Free && v > most {
					most, row, on = v, int32(i), int32(m)
				}
			}
		}
		if row == Free {
			return plan
		}
		used[row], plan[on] = true, row
	}
}

// valueOf returns the number of associations in a plan, and the sum of their entries.
func valueOf(rows []Row, plan []int32) (associations int, sum int64) {
	for machine, row := range plan {
		if row != Free {
			associations++
			sum += rows[row].At(int32(machine))
		}
	}
	return associations, sum
}
