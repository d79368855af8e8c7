package server

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// atOnce is how many questions are answered before it is seen whether anybody still
// waits for the answers.
const atOnce = 256

// draftDesk sorts questions by what they are about, and puts the answers back.
type draftDesk struct {
	core      *site.Draft
	full      error // why nobody can be put; nil if that is not so
	questions []site.Question
	jobs      []batch.JobID
	asked     []int // where the answers of questions belong
	stood     []int // and those of jobs
	answers   []site.Answer
}

func newDraftDesk(s *Server, core *site.Draft) *draftDesk {
	w := &draftDesk{core: core, answers: make([]site.Answer, atOnce)}
	if core.Waiting() >= s.cfg.Limits.Waiting {
		w.full = s.queueFull()
	}
	return w
}

// answer answers up to atOnce questions. The error is site.ErrNoPlan: of one, so of
// all.
func (w *draftDesk) answer(list []rpc.DraftItem, out []site.Answer) error {
	w.questions, w.jobs, w.asked, w.stood = w.questions[:0], w.jobs[:0], w.asked[:0], w.stood[:0]
	for i := range list {
		switch q := &list[i]; {
		case q.Invalid != nil:
			out[i].Err = q.Invalid
		case q.Request == nil:
			w.jobs, w.stood = append(w.jobs, q.Job), append(w.stood, i)
		case w.full != nil:
			out[i].Err = w.full
		default:
			w.questions = append(w.questions, site.Question{Request: q.Request, From: w.core.Made().Add(q.NotBefore)})
			w.asked = append(w.asked, i)
		}
	}
	w.core.Standing(w.jobs, w.answers[:len(w.jobs)])
	err := w.file(w.stood, out)
	w.core.Quotes(w.questions, w.answers[:len(w.questions)])
	return errors.Join(err, w.file(w.asked, out))
}

func (w *draftDesk) file(at []int, out []site.Answer) error {
	for k, i := range at {
		if out[i] = w.answers[k]; errors.Is(out[i].Err, site.ErrNoPlan) {
			return out[i].Err
		}
	}
	return nil
}
