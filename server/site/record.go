package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Record is what has to be durable of a job, beside its dossier. Its JSON is the
// form in which a server keeps it.
type Record struct {
	ID          batch.JobID `json:"id"`
	State       string      `json:"state"`
	Epoch       uint32      `json:"epoch,omitempty"`
	Under       uint32      `json:"under,omitempty"`
	Attempt     uint32      `json:"attempt,omitempty"`
	Cancel      bool        `json:"cancel,omitempty"`
	Withdrawn   bool        `json:"withdrawn,omitempty"`
	Kept        bool        `json:"kept,omitempty"`
	Busy        bool        `json:"busy,omitempty"`
	Service     string      `json:"service,omitempty"`
	Owner       string      `json:"owner,omitempty"`
	Shape       batch.Shape `json:"shape,omitzero"`
	Needs       *Needs      `json:"needs,omitempty"`
	Order       uint64      `json:"order,omitempty"`
	Submitted   batch.Time  `json:"submitted,omitempty"`
	Started     batch.Time  `json:"started,omitempty"` // 0: it has not
	Ended       batch.Time  `json:"ended,omitempty"`   // 0: it has not
	Estimate    Quote       `json:"estimate,omitzero"`
	Run         *Run        `json:"run,omitempty"`
	Transit     *Transit    `json:"transit,omitempty"`
	Revision    uint64      `json:"revision,omitempty"`
	Fingerprint fingerprint `json:"fingerprint,omitzero"`
}

// record returns a job's record. It shares what is not changed any more.
func record(j *Job) Record {
	return Record{
		ID: j.ID, State: j.State.String(), Epoch: j.Epoch, Under: j.Under, Attempt: j.Attempt,
		Cancel: j.Cancel, Withdrawn: j.Withdrawn, Kept: j.Kept, Busy: j.busy,
		Service: j.Service, Owner: j.Owner, Shape: j.Shape, Needs: j.Needs, Order: j.Order,
		Submitted: j.Submitted, Started: instantOut(j.Started), Ended: instantOut(j.Ended),
		Estimate: j.Estimate, Run: j.Run, Transit: j.Transit, Revision: j.Revision, Fingerprint: j.fingerprint,
	}
}

// job is the inverse of record. The error names the field that cannot be.
func (r *Record) job() (*Job, error) {
	state, known := parseState(r.State)
	switch {
	case r.ID == "":
		return nil, fmt.Errorf("record without an id")
	case !known:
		return nil, fmt.Errorf("record of job %s: state %q", r.ID, r.State)
	case r.Kept && r.Needs == nil:
		return nil, fmt.Errorf("record of job %s: kept, but without its needs", r.ID)
	case r.Transit == nil && slices.Contains([]State{Held, Moving, Yielding, Gone, Incoming}, state):
		return nil, fmt.Errorf("record of job %s: %v, but without a transit", r.ID, state)
	}
	return &Job{
		ID: r.ID, State: state, Epoch: r.Epoch, Under: r.Under, Attempt: r.Attempt,
		Cancel: r.Cancel, Withdrawn: r.Withdrawn, Kept: r.Kept, busy: r.Busy,
		Service: intern(r.Service), Owner: intern(r.Owner), Shape: r.Shape, Needs: r.Needs, Order: r.Order,
		Submitted: r.Submitted, Started: instantIn(r.Started), Ended: instantIn(r.Ended),
		Estimate: r.Estimate, Run: r.Run, Transit: r.Transit, Revision: r.Revision, fingerprint: r.Fingerprint,
		due: batch.Never,
	}, nil
}

// instantOut writes Never as 0, and the instant 0 as the one after it.
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

// Restore gives a site without jobs those of an earlier life. Recover has to
// follow.
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
		s.book.load.count(j, s.charge(j), +1)
	}
	return nil
}

// Recall brings a tombstone back to memory, before a call that is about this job.
// It leaves again with the next Take.
func (s *Site) Recall(r *Record) error {
	if s.book.byID[r.ID] != nil {
		return nil
	}
	j, err := r.job()
	if err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	j.recalled = true
	s.book.add(j)
	s.recalled = append(s.recalled, j)
	return nil
}

// Knows says whether a job is in memory.
func (s *Site) Knows(id batch.JobID) bool { return s.book.byID[id] != nil }
