package sim

import "github.com/seed-9b8f70bb/drover/batch"

// kind says which jobs are alike but for their size: rigid ones of a width, and those
// of a moldable type, whose walltimes are at each width in the order of those at any
// other, so also in the order of their sum. It is 0 if the sum is beyond time.
func kind(j *Job, menu []batch.Shape) (like int, size int64) {
	for i := range menu {
		if menu[i].Walltime >= batch.Forever-batch.Duration(size) {
			return 0, 0
		}
		size += int64(menu[i].Walltime)
	}
	if j.Type == 0 {
		return int(j.Width), size
	}
	return -int(j.Type), size
}
