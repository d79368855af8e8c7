package external

import (
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// prefix begins the names and comments of Drover's jobs.
const prefix = "drover"

// Marked reports whether a name or comment looks like one of Drover's, of any site.
func Marked(name, comment string) bool {
	return strings.HasPrefix(comment, prefix) || strings.HasPrefix(name, prefix)
}

// Name returns the job name of an attempt: drover-JOB-EPOCH-ATTEMPT.
func Name(key batch.Key) string {
	return prefix + "-" + string(key.Job) + "-" + number(key.Epoch) + "-" + number(key.Attempt)
}

// Comment returns the comment that identifies an attempt:
// drover:1:SITE:JOB:EPOCH:ATTEMPT:owner=OWNER.
func Comment(site string, key batch.Key, owner string) string {
	parts := []string{
		prefix, "1", site, string(key.Job), number(key.Epoch), number(key.Attempt), "owner=" + sanitize(owner),
	}
	return strings.Join(parts, ":")
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// sanitize removes from foreign text what could end a line or an option, and cuts it
// to 64 bytes.
func sanitize(text string) string {
	const longest = 64
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("@._-+/", r):
			return r
		}
		return -1
	}, text)
	return clean[:min(len(clean), longest)]
}

// Identify returns the attempt of a site that a job is, by its comment, or by its name
// if the cluster keeps comments for other purposes.
func Identify(site, name, comment string) (batch.Key, bool) {
	if !Marked(name, comment) {
		return batch.Key{}, false // most jobs of a long queue
	}
	if parts := strings.SplitN(comment, ":", 7); len(parts) >= 6 && parts[0] == prefix && parts[1] == "1" {
		if parts[2] != site {
			return batch.Key{}, false
		}
		return parseKey(parts[3], parts[4], parts[5])
	}
	if strings.HasPrefix(comment, prefix+":") {
		return batch.Key{}, false
	}
	return ParseName(name)
}

// ParseName returns the attempt that a job name stands for.
func ParseName(name string) (batch.Key, bool) {
	rest, ok := strings.CutPrefix(name, prefix+"-")
	if !ok {
		return batch.Key{}, false
	}
	// From the end, because job IDs contain dashes.
	i := strings.LastIndexByte(rest, '-')
	if i < 0 {
		return batch.Key{}, false
	}
	k := strings.LastIndexByte(rest[:i], '-')
	if k < 0 {
		return batch.Key{}, false
	}
	return parseKey(rest[:k], rest[k+1:i], rest[i+1:])
}

func parseKey(job, epoch, attempt string) (batch.Key, bool) {
	e, errE := strconv.ParseUint(epoch, 10, 32)
	a, errA := strconv.ParseUint(attempt, 10, 32)
	if job == "" || errE != nil || errA != nil {
		return batch.Key{}, false
	}
	return batch.Key{Job: batch.JobID(job), Epoch: uint32(e), Attempt: uint32(a)}, true
}
