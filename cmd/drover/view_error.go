package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type errorView struct {
	Schema    string `json:"schema"`
	Code      int    `json:"code"`
	Reason    string `json:"reason,omitempty"`
	Field     string `json:"field,omitempty"`
	Accepted  string `json:"accepted,omitempty"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
	Job       string `json:"job,omitempty"`

	Jobs  []string `json:"jobs,omitempty"`
	Line  int      `json:"line,omitempty"`
	Index *int     `json:"index,omitempty"`

	Offer *nearestView `json:"offer,omitempty"`
}

// nearestView is what could be had instead.
type nearestView struct {
	Site       string  `json:"site"`
	Wait       float64 `json:"wait"`
	Completion float64 `json:"completion"`
	Width      int     `json:"width"`
}

func nearestViewOf(o *problem.Offer) *nearestView {
	if o == nil {
		return nil
	}
	return &nearestView{Site: o.Site, Wait: o.Wait.Seconds(), Completion: o.Completion.Seconds(), Width: int(o.Width)}
}

// oneLine makes one line of a list of problems.
var oneLine = strings.NewReplacer(":\n  ", ": ", "\n  ", "; ", "\n", "; ")

func errorViewOf(err error, code int) errorView {
	v := errorView{Schema: "drover.error/1", Code: code, Message: oneLine.Replace(err.Error())}
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		v.Reason, v.Field, v.Accepted, v.Hint, v.Retryable = string(e.Reason), e.Field, e.Accepted, e.Hint, e.Retryable
		v.Offer = nearestViewOf(e.Offer)
	}
	if _, ok := errors.AsType[*noGridError](err); ok {
		v.Hint = "no grid was named, by --agent, DROVER_AGENTS or DROVER_CONFIG, and none is on this host: drover demo --keep starts one to try, drover agent and drover server one of your own"
	}
	if e, ok := errors.AsType[*cmdline.UsageError](err); ok {
		v.Reason, v.Hint = "usage", e.Hint
	}
	if e, ok := errors.AsType[*ambiguousError](err); ok {
		v.Reason, v.Hint = "ambiguous", "give more of the ID"
		for _, j := range e.fits {
			v.Jobs = append(v.Jobs, j.ID)
		}
	}
	if _, ok := errors.AsType[*notSubmittedError](err); ok {
		v.Reason = "not-submitted"
	}
	if _, ok := errors.AsType[*nothingError](err); ok {
		v.Hint = strings.TrimPrefix(v.Hint+"; nothing was submitted", "; ")
	}
	if e, ok := errors.AsType[*submission.UnknownError](err); ok {
		v.Reason, v.Job, v.Retryable = "unknown", e.Job, false
		v.Hint = fmt.Sprintf("it may run; drover job %s asks for it", e.Job)
	}
	if e, ok := errors.AsType[*submission.PatienceError](err); ok && e.Job != "" {
		v.Job = e.Job
		if e.Target.Site != "" {
			v.Hint = fmt.Sprintf("what the job does is unknown while site %s is silent; the same command later, or with a longer --patience, may tell", e.Target.Site)
		}
	}
	return v
}
