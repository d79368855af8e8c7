package site

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

var uuidV7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// Ages of a job ID, by the time in it. A server keeps records for Horizon;
// about an older submission nobody could say whether it is a repeated one.
const (
	Horizon = 30 * 24 * batch.Hour
	Ahead   = batch.Hour // clocks differ, but not by more
)

// CheckID returns an ID from outside as a JobID, or a *problem.Problem unless it is a
// lower-case UUIDv7.
func CheckID(id string) (batch.JobID, error) {
	if !uuidV7.MatchString(id) {
		if len(id) > 64 {
			id = id[:64] + "..."
		}
		return "", problem.Field(problem.BadValue, "job_id", "a lower-case UUIDv7", "%q", id)
	}
	return batch.JobID(id), nil
}

// CheckAge returns a *problem.Problem when an ID that CheckID has accepted is older than
// Horizon or more than Ahead in the future. now counts from the Unix epoch.
func CheckAge(now batch.Time, id batch.JobID) error {
	ms, err := strconv.ParseInt(strings.ReplaceAll(string(id), "-", "")[:12], 16, 64)
	if err != nil {
		return problem.Field(problem.BadValue, "job_id", "a lower-case UUIDv7", "%q", id)
	}
	made := batch.Time(ms) * batch.Time(batch.Millisecond)
	if made < now-batch.Time(Horizon) || made > now+batch.Time(Ahead) {
		return problem.Field(problem.StaleID, "job_id", fmt.Sprintf("made at most %v ago and at most %v ahead", Horizon, Ahead), "%s", id)
	}
	return nil
}
