package slurm

import (
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// prefix begins the names and the comments of Drover's jobs.
const prefix = "drover"

// Name is the job name of an attempt: drover-JOB-EPOCH-ATTEMPT. A job ID is 36
// bytes, so that the name is the same for everybody who prints it.
func Name(key batch.Key) string {
	return prefix + "-" + string(key.Job) + "-" + number(key.Epoch) + "-" + number(key.Attempt)
}

// comment says whose an attempt is: drover:1:SITE:JOB:EPOCH:ATTEMPT:owner=OWNER.
// It is what a job is known by: ids of Slurm's are used again when a controller
// has lost its state.
func comment(site string, key batch.Key, owner string) string {
	parts := []string{prefix, "1", site, string(key.Job), number(key.Epoch), number(key.Attempt), "owner=" + plain(owner)}
	return strings.Join(parts, ":")
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// plain makes a word of what somebody else has written: what could end a line or
// an option is left out.
func plain(text string) string {
	const most = 64
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("@._-+/", r):
			return r
		}
		return -1
	}, text)
	return clean[:min(len(clean), most)]
}

// identify returns the attempt of this site that a job is by its comment, or by
// its name where the site's plugins keep comments for themselves.
func identify(site, name, text string) (batch.Key, bool) {
	if !strings.HasPrefix(text, prefix) && !strings.HasPrefix(name, prefix) {
		return batch.Key{}, false // as most of a long queue
	}
	if parts := strings.SplitN(text, ":", 7); len(parts) >= 6 && parts[0] == prefix && parts[1] == "1" {
		if parts[2] != site {
			return batch.Key{}, false
		}
		return key(parts[3], parts[4], parts[5])
	}
	if strings.HasPrefix(text, prefix+":") {
		return batch.Key{}, false
	}
	return Named(name)
}

// Named returns the attempt that a name is of.
func Named(name string) (batch.Key, bool) {
	rest, ok := strings.CutPrefix(name, prefix+"-")
	if !ok {
		return batch.Key{}, false
	}
	// From the end: a job ID has dashes of its own.
	i := strings.LastIndexByte(rest, '-')
	if i < 0 {
		return batch.Key{}, false
	}
	k := strings.LastIndexByte(rest[:i], '-')
	if k < 0 {
		return batch.Key{}, false
	}
	return key(rest[:k], rest[k+1:i], rest[i+1:])
}

func key(job, epoch, attempt string) (batch.Key, bool) {
	e, errE := strconv.ParseUint(epoch, 10, 32)
	a, errA := strconv.ParseUint(attempt, 10, 32)
	if job == "" || errE != nil || errA != nil {
		return batch.Key{}, false
	}
	return batch.Key{Job: batch.JobID(job), Epoch: uint32(e), Attempt: uint32(a)}, true
}
