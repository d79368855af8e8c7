package site

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// reachable returns the smallest duration from now, in whole seconds, that a refusal can
// suggest for something that takes d. It is longer than d, because the user tries
// again a moment later.
func reachable(d batch.Duration) batch.Duration { return (d + 1).CeilSeconds() }

// catalogueProblem returns the problem for an error of the catalogue.
func catalogueProblem(err error) *problem.Problem {
	var (
		service  *catalogue.UnknownService
		argument *catalogue.ArgumentError
		shape    *catalogue.ShapeError
		model    *catalogue.ModelError
	)
	p := &problem.Problem{Reason: problem.BadValue, Field: "request", Message: err.Error(), Cause: err}
	switch {
	case errors.As(err, &service):
		p.Reason, p.Field = problem.UnknownService, "request.service"
		p.Accepted, p.Hint = "one of the site's services", "drover services lists what the grid offers"
	case errors.As(err, &argument):
		p.Reason, p.Field = problem.Reason(argument.Reason), "request.arguments."+argument.Argument
		p.Accepted = argument.Accepted
	case errors.As(err, &shape):
		p.Reason, p.Field, p.Accepted = problem.Reason(shape.Reason), "request."+shape.Field, shape.Accepted
	case errors.As(err, &model):
		p.Reason, p.Field = problem.OutOfRange, "request.arguments"
		p.Accepted = "arguments for which the service's model has an answer"
	}
	return p
}

// needProblem returns the problem for an error of Edge: the batch system can run no
// shape of a request.
func needProblem(err error) *problem.Problem {
	p := &problem.Problem{Reason: problem.CannotRun, Field: "request", Cause: err}
	p.Message, p.Accepted = err.Error(), "needs that one of the site's nodes meets"
	need, ok := errors.AsType[*policy.NeedError](err)
	if !ok {
		return p
	}
	p.Accepted = need.Accepted
	switch need.Field {
	case policy.NeedLicense:
		p.Reason, p.Field = problem.NoLicense, "request.licenses"
	case policy.NeedWidth:
		p.Reason, p.Field = problem.TooWide, "request.width"
	}
	p.Message = p.Field + ": " + p.Message
	return p
}
