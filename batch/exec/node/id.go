package node

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// ID names a task: one process of an attempt to run a job.
type ID struct {
	Key  batch.Key
	Rank int32 // from 0
}

// okJob keeps to what is good in the name of a directory and of a control group.
var okJob = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// JobAccepted is what a job's ID may be on a node.
const JobAccepted = "1 to 60 letters, digits, '-' and '_'"

// Validate refuses what cannot be the name of a file.
func (id ID) Validate() error {
	if !okJob.MatchString(string(id.Key.Job)) {
		return fmt.Errorf("job: %.80q, accepted: %s", id.Key.Job, JobAccepted)
	}
	if id.Rank < 0 {
		return fmt.Errorf("rank: %d, accepted: 0 or more", id.Rank)
	}
	return nil
}

// String names the task for a log.
func (id ID) String() string {
	return fmt.Sprintf("%s/%d-%d/%d", id.Key.Job, id.Key.Epoch, id.Key.Attempt, id.Rank)
}

// Compare orders tasks by job, epoch, attempt and rank.
func (id ID) Compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Key.Job, o.Key.Job), cmp.Compare(id.Key.Epoch, o.Key.Epoch),
		cmp.Compare(id.Key.Attempt, o.Key.Attempt), cmp.Compare(id.Rank, o.Rank))
}

// group is the name of its control group.
func (id ID) group() string {
	return fmt.Sprintf("%s-%d-%d-%d", id.Key.Job, id.Key.Epoch, id.Key.Attempt, id.Rank)
}

// dir is the name of the directory of its attempt files. No job's ID has a dot.
func (id ID) dir() string { return string(id.Key.Job) + "." + strconv.Itoa(int(id.Rank)) }

// parseGroup is the reverse of group.
func parseGroup(name string) (ID, bool) {
	var numbers [3]uint64
	rest := name
	for i := 2; i >= 0; i-- {
		at := strings.LastIndexByte(rest, '-')
		if at < 0 {
			return ID{}, false
		}
		n, err := strconv.ParseUint(rest[at+1:], 10, 32)
		if err != nil {
			return ID{}, false
		}
		numbers[i], rest = n, rest[:at]
	}
	id := ID{Key: batch.Key{Job: batch.JobID(rest), Epoch: uint32(numbers[0]), Attempt: uint32(numbers[1])}, Rank: int32(numbers[2])}
	return id, id.Validate() == nil && id.group() == name
}
