package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Record is the durable part of a job, apart from its dossier. Its JSON is what a server stores.
type Record struct {
	ID             batch.JobID  `json:"id"`
	State          string       `json:"state"`
	Epoch          uint32       `json:"epoch,omitempty"`
	Under          uint32       `json:"under,omitempty"`
	Attempt        uint32       `json:"attempt,omitempty"`
	Cancel         bool         `json:"cancel,omitempty"`
	Withdrawn      bool         `json:"withdrawn,omitempty"`
	Kept           bool         `json:"kept,omitempty"`
	Busy           bool         `json:"busy,omitempty"`
	Service        string       `json:"service,omitempty"`
	Owner          string       `json:"owner,omitempty"`
	Shape          batch.Shape  `json:"shape,omitzero"`
	Needs          *Needs       `json:"needs,omitempty"`
	Order          uint64       `json:"order,omitempty"`
	Submitted      batch.Time   `json:"submitted,omitempty"`
	Started        batch.Time   `json:"started,omitempty"` // 0 if it has not started
	Ended          batch.Time   `json:"ended,omitempty"`   // 0 if it has not ended
	Estimate       Quote        `json:"estimate,omitzero"`
	Run            *Run         `json:"run,omitempty"`
	Past           *Past        `json:"past,omitempty"`
	Measured       *Measured    `json:"measured,omitempty"`
	Awaits         []Dependency `json:"awaits,omitempty"`
	Retried        uint8        `json:"retried,omitempty"`
	FailedAttempts uint32       `json:"vain,omitempty"`
	Transit        *Transit     `json:"transit,omitempty"`
	Revision       uint64       `json:"revision,omitempty"`
	Agreement      string       `json:"agreement,omitempty"`
	Fingerprint    fingerprint  `json:"fingerprint,omitzero"`
}

// record returns the record of a job. It shares data that are never changed.
func record(j *Job) Record {
	return Record{
		ID: j.ID, State: j.State.String(), Epoch: j.Epoch, Under: j.Under, Attempt: j.Attempt,
		Cancel: j.Cancel, Withdrawn: j.Withdrawn, Kept: j.Kept, Busy: j.busy,
		Service: j.Service, Owner: j.Owner, Shape: j.Shape, Needs: j.Needs, Order: j.Order,
		Submitted: j.Submitted, Started: instantOut(j.Started), Ended: instantOut(j.Ended),
		Estimate: j.Estimate, Run: j.Run, Past: j.Past, Measured: j.Measured, Transit: j.Transit, Revision: j.Revision,
		Fingerprint: j.fingerprint,
		Awaits:      j.Awaits(), Retried: j.Retried, FailedAttempts: j.FailedAttempts,
		Agreement: j.agreement.String(),
	}
}

// job is the inverse of record. The error names the invalid field.
func (r *Record) job() (*Job, error) {
	state, known := parseState(r.State)
	if !known {
		return nil, fmt.Errorf("record of job %q: state %q", r.ID, r.State)
	}
	agreement, known := parseAgreement(r.Agreement)
	if !known {
		return nil, fmt.Errorf("record of job %q: agreement %q", r.ID, r.Agreement)
	}
	j := &Job{
		ID: r.ID, State: state, Epoch: r.Epoch, Under: r.Under, Attempt: r.Attempt,
		Cancel: r.Cancel, Withdrawn: r.Withdrawn, Kept: r.Kept, busy: r.Busy,
		Service: intern(r.Service), Owner: intern(r.Owner), Shape: r.Shape, Needs: r.Needs, Order: r.Order,
		Submitted: r.Submitted, Started: instantIn(r.Started), Ended: instantIn(r.Ended),
		Estimate: r.Estimate, Run: r.Run, Past: r.Past, Measured: r.Measured, Transit: r.Transit, Revision: r.Revision,
		fingerprint: r.Fingerprint,
		awaits:      awaitsOf(r.Awaits), Retried: r.Retried, FailedAttempts: r.FailedAttempts,
		agreement: agreement,
	}
	if invalid := j.invalid(); invalid != "" {
		return nil, fmt.Errorf("record of job %q that is %v: %s", r.ID, state, invalid)
	}
	return j, nil
}

// invalid returns what is inconsistent about a job, "" for nothing. The rest of the core relies on
// consistent jobs.
func (j *Job) invalid() string {
	t := j.Transit
	if t == nil {
		t = &Transit{}
	}
	moving, launched := j.State == Moving || j.State == Yielding, j.State == Starting || j.State == Running
	switch {
	case j.ID == "":
		return "no id"
	case j.State == Gone && (t.Gone == 0 || t.Peer == ""):
		return "no move that was committed"
	case j.Kept && j.State == Absent, !j.Kept && j.State != Absent && !j.tombstone():
		return fmt.Sprintf("kept: %v", j.Kept)
	case j.Kept && (j.Needs == nil || j.Attempt == 0 || j.Shape.Width < 1):
		return "no needs, attempt or shape"
	case j.Past != nil && (j.Past.Stops == 0 || j.Past.Done < 0):
		return "an invalid past"
	case j.Measured != nil && j.Measured.invalid() != "":
		return j.Measured.invalid()
	case j.Under > j.Epoch:
		return fmt.Sprintf("here under epoch %d, but at epoch %d", j.Under, j.Epoch)
	case launched && !j.busy, j.busy && !launched && j.State != Cancelling:
		return fmt.Sprintf("holds processors: %v", j.busy)
	case (moving || j.State == Incoming) && t.Peer == "":
		return "no other site"
	case moving && (len(t.Assigned) == 0 || t.Assigned[len(t.Assigned)-1].Epoch != j.Epoch):
		return "its epoch was not assigned here"
	case j.State == Held && t.Round == "" && len(j.Awaits()) == 0:
		return "no round and no dependencies"
	case j.State != Held && len(j.Awaits()) > 0:
		return fmt.Sprintf("waits for %d jobs", len(j.Awaits()))
	case !ascending(t.Assigned):
		return "epochs out of order"
	}
	return ""
}

func ascending(list []Verdict) bool {
	last := uint32(0)
	for _, v := range list {
		if v.First <= last || v.Epoch < v.First {
			return false
		}
		last = v.Epoch
	}
	return true
}

// instantOut encodes Never as 0, and 0 as 1.
func instantOut(t batch.Time) batch.Time {
	if t == batch.Never {
		return 0
	}
	return max(t, 1)
}

func instantIn(t batch.Time) batch.Time {
	if t == 0 {
		return batch.Never
	}
	return t
}

// Restore loads the jobs of an earlier run into a site without jobs. Recover must follow.
func (s *Site) Restore(records []Record) error {
	jobs := make([]*Job, 0, len(records))
	for i := range records {
		j, err := records[i].job()
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b *Job) int { return cmp.Or(byOrder(a, b), cmp.Compare(a.ID, b.ID)) })
	for _, j := range jobs {
		if s.book.byID[j.ID] != nil {
			return fmt.Errorf("restore: two records of job %s", j.ID)
		}
		s.book.add(j)
		s.book.addAwaits(j)
		s.book.load.count(j, s.charge(j), +1)
	}
	s.restoreSamples()
	return nil
}

// Recall loads a tombstone before a call about its job. The next Take drops it again.
func (s *Site) Recall(r *Record) error {
	if s.book.byID[r.ID] != nil {
		return nil
	}
	j, err := r.job()
	if err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	s.book.add(j)
	s.recalled = append(s.recalled, j)
	return nil
}

// Knows reports whether a job is in memory.
func (s *Site) Knows(id batch.JobID) bool { return s.book.byID[id] != nil }
