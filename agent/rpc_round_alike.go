package agent

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// likesOf says which jobs are alike: those whose requests are the same in all that a
// site's answer may hang on have the same number, from 1 in order of the jobs. 0 is
// like no other.
//
// The size of a job is not used. That a shorter walltime is completed no later is true
// of the policies of today, and is not for an agent to say of any batch system that a
// site may have: one that runs long jobs first would belie it.
func likesOf(jobs []waitingJob) []int {
	likes := make([]int, len(jobs))
	kinds := make(map[[sha256.Size]byte]int)
	var text []byte
	for i := range jobs {
		var ok bool
		if text, ok = kindOf(text[:0], jobs[i].request); !ok {
			continue
		}
		sum := sha256.Sum256(text)
		if kinds[sum] == 0 {
			kinds[sum] = len(kinds) + 1
		}
		likes[i] = kinds[sum]
	}
	return likes
}

// kindOf appends a request to text, but for what no answer hangs on. A field that is
// new and not named here makes a difference. It is false for a request that cannot be
// written.
func kindOf(text []byte, r *droverv1.Request) ([]byte, bool) {
	if r == nil {
		return text, false
	}
	r = proto.CloneOf(r)
	r.Labels, r.RetryOf, r.Idempotent = nil, "", false
	for _, v := range r.GetArguments() {
		if f := contentOf(v); f != nil { // of files and blocks, models and links know the size alone
			f.Sha256, f.Name = "", ""
		}
	}
	text, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(text, r)
	return text, err == nil
}
