package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Failure is a call to a server that brought no result, and why.
type Failure struct {
	Missing mapping.Missing // not Answered
	Problem *problem.Problem
}

// Error returns the problem's text.
func (f *Failure) Error() string { return f.Problem.Error() }

// Unwrap returns the problem.
func (f *Failure) Unwrap() error { return f.Problem }

// Late returns the failure of a server that did not answer in time.
func Late() *Failure {
	return &Failure{Missing: mapping.Timeout, Problem: &problem.Problem{
		Reason: problem.Timeout, Message: "no answer in time", Retryable: true,
	}}
}

// Refused returns the failure of a server that refuses.
func Refused(p *problem.Problem) *Failure { return &Failure{Missing: mapping.Refused, Problem: p} }

// failureOf returns what the error of a call means: a refusal if the server itself
// says why, otherwise some kind of silence. ctx is that of the call: a connection
// that breaks can look like a cancelled call too.
func failureOf(ctx context.Context, err error) *Failure {
	unreachable := func(text string) *Failure {
		return &Failure{Missing: mapping.Unreachable, Problem: &problem.Problem{
			Reason: problem.Unreachable, Message: text, Retryable: true, Cause: err,
		}}
	}
	if e, ok := errors.AsType[*connect.Error](err); ok {
		for _, d := range e.Details() {
			v, err := d.Value()
			detail, ok := v.(*droverv1.ErrorDetail)
			switch {
			case err != nil || !ok:
			case detail.GetRetryable(): // a server does not say that about a bad request
				return &Failure{Missing: mapping.Unreachable, Problem: rpc.ProblemOf(detail)}
			default:
				return Refused(rpc.ProblemOf(detail))
			}
		}
	}
	switch code := connect.CodeOf(err); {
	case ctx.Err() != nil, code == connect.CodeDeadlineExceeded:
		return Late()
	case code == connect.CodeUnavailable, code == connect.CodeCanceled:
		return unreachable("no connection to the server")
	default:
		return unreachable("the call failed: " + code.String())
	}
}

// badResponse returns the failure of a server with a malformed answer.
func badResponse(text string) *Failure {
	return &Failure{Missing: mapping.Unreachable, Problem: problem.New(problem.Internal, "%s", text)}
}

// Servers makes peers. Its methods may be called from several goroutines.
type Servers struct{ caller *rpc.Caller }

// NewServers returns a maker of peers. dialTimeout bounds how long a connection takes
// to be made.
func NewServers(dialTimeout time.Duration) Servers {
	return Servers{rpc.NewCaller(rpc.CallerConfig{DialTimeout: dialTimeout})}
}

// Close closes idle connections.
func (s Servers) Close() { s.caller.Close() }

// Peer is a site's server as the agent calls it. Its methods may be called from
// several goroutines once Describe has returned. They return a *Failure as their
// error unless they say otherwise.
type Peer struct {
	client droverv1connect.ServerServiceClient
	about  *droverv1.DescribeResponse // not changed once Describe has returned
}

// Peer returns the server at a URL.
func (s Servers) Peer(url string) *Peer {
	return &Peer{client: rpc.Client(s.caller, droverv1connect.NewServerServiceClient, url)}
}

// call makes one call of a client's method.
func call[Q, R any](ctx context.Context, method func(context.Context, *Q) (*R, error), req *Q) (*R, error) {
	res, err := method(ctx, req)
	if err != nil {
		return nil, failureOf(ctx, err)
	}
	return res, nil
}

// Describe asks the server what it is and returns its site's name. The error is that
// of the call.
func (p *Peer) Describe(ctx context.Context) (string, error) {
	about, err := p.client.Describe(ctx, &droverv1.DescribeRequest{})
	if err != nil {
		return "", fmt.Errorf("describe: %w", err)
	}
	about.Services = slices.DeleteFunc(about.GetServices(), func(s *droverv1.Service) bool { return s.GetName() == "" })
	slices.SortFunc(about.Services, func(a, b *droverv1.Service) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
	p.about = about
	return about.GetSite().GetName(), nil
}

// Known returns the servers that this one knows of.
func (p *Peer) Known() []gossip.Known {
	out := make([]gossip.Known, len(p.about.GetKnown()))
	for i, k := range p.about.GetKnown() {
		out[i] = gossip.Known{
			Name: k.GetName(), URL: k.GetUrl(), Address: k.GetGossip(), API: int(k.GetApiVersion()),
			Instance: k.GetInstance(), Left: k.GetLeft(),
		}
	}
	return out
}

// Policy returns the name of the site's scheduling policy.
func (p *Peer) Policy() string { return p.about.GetSite().GetPolicy() }

// Services returns what the server offers, by name.
func (p *Peer) Services() []Service {
	out := make([]Service, len(p.about.GetServices()))
	for i, s := range p.about.GetServices() {
		out[i] = Service{s}
	}
	return out
}

// Status asks the server for its queue and, with accuracy, how its estimates were
// kept.
func (p *Peer) Status(ctx context.Context, accuracy bool) (Status, error) {
	res, err := call(ctx, p.client.GetStatus, &droverv1.GetStatusRequest{Accuracy: accuracy})
	return Status{res.GetStatus()}, err
}

// Site asks the server about its site.
func (p *Peer) Site(ctx context.Context) (SiteDetails, error) {
	res, err := call(ctx, p.client.GetSite, &droverv1.GetSiteRequest{})
	return SiteDetails{Status: Status{res.GetStatus()}, m: res}, err
}

// SetDraining starts or stops draining the site.
func (p *Peer) SetDraining(ctx context.Context, draining bool) (Status, error) {
	res, err := call(ctx, p.client.SetDraining, &droverv1.SetDrainingRequest{Draining: draining})
	return Status{res.GetStatus()}, err
}

// Estimate asks the server when a request would be completed if it does not start
// before notBefore from now.
func (p *Peer) Estimate(ctx context.Context, r Request, notBefore batch.Duration) (mapping.Answer, error) {
	res, err := call(ctx, p.client.Estimate, &droverv1.EstimateRequest{
		Request: r.m, NotBefore: rpc.Duration(notBefore),
	})
	if err != nil {
		return mapping.Answer{}, err
	}
	q := res.GetQuote()
	if q.GetRefusal() != nil {
		return mapping.Answer{}, Refused(rpc.ProblemOf(q.GetRefusal()))
	}
	answer := mapping.Answer{
		Wait: micros(q.GetWait()), Run: micros(q.GetRun()), Walltime: micros(q.GetWalltime()),
		Age: micros(q.GetStateAge()), Width: q.GetWidth(), Kind: rpc.KindOf(q.GetKind()), P: q.GetProbability(),
	}
	if q.GetWait() == nil || q.GetRun() == nil || answer.Width < 1 ||
		min(answer.Wait, answer.Run, answer.Walltime, answer.Age) < 0 {
		return mapping.Answer{}, badResponse("the server's estimate makes no sense")
	}
	answer.Record = recordIn(res.GetAccuracy())
	return answer, nil
}

// recordIn returns how a site's estimates were kept, nil if that is not known.
func recordIn(a *droverv1.Accuracy) *mapping.Record {
	if a.GetJobs() < 1 || a.GetStart() == nil || !(a.GetRunRatio() >= 0) {
		return nil
	}
	return &mapping.Record{
		Jobs: int(a.GetJobs()), Start: micros(a.GetStart().GetMedian()),
		Run: batch.Share(min(a.GetRunRatio(), 1024) * float64(batch.One)),
	}
}

// Job asks the server for one job.
func (p *Peer) Job(ctx context.Context, id string) (Job, error) {
	res, err := call(ctx, p.client.GetJob, &droverv1.GetJobRequest{JobId: id})
	return Job{res.GetJob()}, err
}

// View is how much a list says about each job.
type View int32

// The views.
const (
	Full  = View(droverv1.JobView_JOB_VIEW_UNSPECIFIED)
	Brief = View(droverv1.JobView_JOB_VIEW_BRIEF)
)

// ListJobs asks the server for a page of its jobs. next is the token of the page
// after it, "" for none.
func (p *Peer) ListJobs(
	ctx context.Context, filter string, size int, token string, view View,
) (jobs []Job, next string, err error) {
	res, err := call(ctx, p.client.ListJobs, &droverv1.ServerServiceListJobsRequest{
		Filter: filter, PageSize: int32(size), PageToken: token, View: droverv1.JobView(view),
	})
	for _, j := range res.GetJobs() {
		jobs = append(jobs, Job{j})
	}
	return jobs, res.GetNextPageToken(), err
}

// WatchJobs streams what becomes of the server's jobs until ctx ends or the stream
// breaks, and returns why it broke. The first call of news has begin set, and the one
// with which all jobs are sent has synced set. The slice is valid during the call.
func (p *Peer) WatchJobs(ctx context.Context, news func(begin, synced bool, jobs []mapping.Digest)) error {
	stream, err := p.client.WatchJobs(ctx, &droverv1.WatchJobsRequest{})
	if err != nil {
		return fmt.Errorf("watch jobs: %w", err)
	}
	defer stream.Close()
	begin := true
	var jobs []mapping.Digest
	for stream.Receive() {
		jobs = jobs[:0]
		for _, d := range stream.Msg().GetJobs() {
			jobs = append(jobs, digestIn(d))
		}
		news(begin, stream.Msg().GetSynced(), jobs)
		begin = false
	}
	if err := stream.Err(); err != nil {
		return fmt.Errorf("watch jobs: %w", err)
	}
	return errors.New("watch jobs: the server has ended the stream")
}

func digestIn(d *droverv1.JobDigest) mapping.Digest {
	out := mapping.Digest{
		ID: d.GetId(), State: statesIn[d.GetState()], Epoch: d.GetEpoch(), Service: d.GetService(), Owner: d.GetOwner(),
		Shape: shapeIn(d.GetShape()), Submitted: rpc.MicrosOf(d.GetSubmittedAt()), To: d.GetMovedTo(),
	}
	if d.GetStartedAt() != nil {
		out.Started = rpc.MicrosOf(d.GetStartedAt())
	}
	return out
}

// MoveOrder is an order to move a job.
type MoveOrder struct {
	Job     string
	To      string // site
	Epoch   uint32 // at which the job was seen; the server refuses at another one
	MinGain batch.Duration
	Reason  string // for the record
	Agent   string
}

// Move orders a move. It returns once the move has begun.
func (p *Peer) Move(ctx context.Context, o MoveOrder) (Job, error) {
	res, err := call(ctx, p.client.MoveJob, &droverv1.MoveJobRequest{
		JobId: o.Job, To: o.To, SeenEpoch: o.Epoch, MinGain: rpc.Duration(o.MinGain), Reason: o.Reason, Agent: o.Agent,
	})
	return Job{res.GetJob()}, err
}

// Settle passes on an operator's settlement.
func (p *Peer) Settle(ctx context.Context, s Settlement) (Job, error) {
	res, err := call(ctx, p.client.SettleJob, s.m)
	return Job{res.GetJob()}, err
}

// ListMoves asks the server for a page of its records of moves.
func (p *Peer) ListMoves(
	ctx context.Context, filter string, size int, token string,
) (moves []Move, next string, err error) {
	res, err := call(ctx, p.client.ListMoves, &droverv1.ServerServiceListMovesRequest{
		Filter: filter, PageSize: int32(size), PageToken: token,
	})
	for _, m := range res.GetMoves() {
		moves = append(moves, Move{m})
	}
	return moves, res.GetNextPageToken(), err
}

// Hold takes waiting jobs out of the site's plan for a round of reallocation, and
// returns the IDs of those that are held. The lease puts them back if Place does not.
func (p *Peer) Hold(
	ctx context.Context, round string, lease batch.Duration, ids []string,
) (held map[string]bool, err error) {
	res, err := call(ctx, p.client.HoldJobs, &droverv1.HoldJobsRequest{
		Round: round, Lease: rpc.Duration(lease), JobIds: ids,
	})
	held = make(map[string]bool)
	for _, d := range res.GetJobs() {
		held[d.GetId()] = true
	}
	return held, err
}

// Placement is what becomes of a held job: it moves if To is a site, and stays with
// Shape otherwise.
type Placement struct {
	Job     string
	To      string
	MinGain batch.Duration
	Reason  string
	Shape   batch.Shape
}

// Place ends the holding of a round's jobs, and returns the states of those that were
// placed.
func (p *Peer) Place(ctx context.Context, round, agent string, list []Placement) (map[string]mapping.State, error) {
	req := &droverv1.PlaceJobsRequest{Round: round, Agent: agent}
	for _, l := range list {
		m := &droverv1.Placement{JobId: l.Job, To: l.To, Reason: l.Reason}
		if l.To != "" {
			m.MinGain = rpc.Duration(l.MinGain)
		} else {
			m.Shape = rpc.Shape(l.Shape)
		}
		req.Placements = append(req.Placements, m)
	}
	res, err := call(ctx, p.client.PlaceJobs, req)
	placed := make(map[string]mapping.State)
	for _, d := range res.GetJobs() {
		placed[d.GetId()] = statesIn[d.GetState()]
	}
	return placed, err
}

// A long call to a draft is sent in pieces, so that each is answered soon and fits
// into a message.
const (
	mostInPiece    = 500
	mostPieceBytes = rpc.LargestMessage / 2
)

// DraftPiece is one message to a draft.
type DraftPiece struct{ m *droverv1.DraftRequest }

// KeepDraft returns the piece that only renews a draft's lease.
func KeepDraft() DraftPiece { return DraftPiece{&droverv1.DraftRequest{}} }

// EndDraft returns the piece that ends a draft.
func EndDraft() DraftPiece { return DraftPiece{&droverv1.DraftRequest{End: true}} }

// DraftPieces returns the messages that a call to a draft is sent in. job returns the
// ID and the request of one of the round's jobs.
func DraftPieces(c *rounds.Call, job func(i int) (id string, r Request)) []DraftPiece {
	list := []DraftPiece{{&droverv1.DraftRequest{Begin: c.Begin}}}
	count, bytes := 0, 0
	pieceFor := func(m proto.Message) *droverv1.DraftRequest {
		n := proto.Size(m)
		if count > 0 && (count == mostInPiece || bytes+n > mostPieceBytes) {
			list = append(list, DraftPiece{&droverv1.DraftRequest{}})
			count, bytes = 0, 0
		}
		count++
		bytes += n
		return list[len(list)-1].m
	}
	for _, e := range c.Edits {
		id, r := job(e.Job)
		m := &droverv1.DraftEdit{JobId: id, Put: e.Put}
		if e.Put {
			m.Request, m.NotBefore = r.m, rpc.Duration(e.After)
		}
		p := pieceFor(m)
		p.Edits = append(p.Edits, m)
	}
	for _, q := range c.Questions {
		id, r := job(q.Job)
		m := &droverv1.DraftQuestion{JobId: id}
		if !q.Standing {
			m.Request, m.NotBefore = r.m, rpc.Duration(q.After)
		}
		p := pieceFor(m)
		p.Questions = append(p.Questions, m)
	}
	list[len(list)-1].m.End = c.End
	return list
}

// Draft sends one piece to the site's draft for a round, and returns the answers to
// its edits and questions.
func (p *Peer) Draft(
	ctx context.Context, round string, lease batch.Duration, piece DraftPiece,
) (edited, answers []rounds.Answer, err error) {
	piece.m.Round, piece.m.Lease = round, rpc.Duration(lease)
	res, err := call(ctx, p.client.Draft, piece.m)
	switch {
	case err != nil:
		return nil, nil, err
	case len(res.GetEdits()) != len(piece.m.GetEdits()) || len(res.GetAnswers()) != len(piece.m.GetQuestions()):
		return nil, nil, badResponse("the server's draft does not answer what was asked")
	}
	for _, q := range res.GetEdits() {
		edited = append(edited, draftAnswerIn(q))
	}
	for _, q := range res.GetAnswers() {
		answers = append(answers, draftAnswerIn(q))
	}
	return edited, answers, nil
}

// draftAnswerIn reads a quote. One without a completion promises nothing.
func draftAnswerIn(q *droverv1.Quote) rounds.Answer {
	a := rounds.Answer{
		Refused: q.GetRefusal() != nil, Completion: batch.Forever,
		Shape:    batch.Shape{Width: q.GetWidth(), Walltime: micros(q.GetWalltime())},
		Promised: q.GetKind() == droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
	}
	if q.GetCompletion() != nil {
		a.Completion = micros(q.GetCompletion())
	}
	return a
}

// GetData asks the server for data by their handles. gone says what became of those
// that are no longer there.
func (p *Peer) GetData(ctx context.Context, ids []string) (here []Data, gone map[string]string, err error) {
	res, err := call(ctx, p.client.GetData, &droverv1.GetDataRequest{Ids: ids})
	for _, g := range res.GetGone() {
		if gone == nil {
			gone = make(map[string]string)
		}
		gone[g.GetId()] = g.GetMessage()
	}
	return dataIn(res.GetData()), gone, err
}

// ListData asks the server for a page of its data.
func (p *Peer) ListData(
	ctx context.Context, filter string, size int, token string,
) (data []Data, next string, err error) {
	res, err := call(ctx, p.client.ListData, &droverv1.ServerServiceListDataRequest{
		Filter: filter, PageSize: int32(size), PageToken: token,
	})
	return dataIn(res.GetData()), res.GetNextPageToken(), err
}

// RemoveData removes data, and reports whether the server had them.
func (p *Peer) RemoveData(ctx context.Context, id string) (bool, error) {
	res, err := call(ctx, p.client.RemoveData, &droverv1.ServerServiceRemoveDataRequest{Id: id})
	return res.GetData() != nil, err
}

func dataIn(list []*droverv1.Data) []Data {
	var out []Data
	for _, d := range list {
		out = append(out, Data{d})
	}
	return out
}

// OfferReservation asks which reservation a booking would get, and whether it is
// booked already.
func (p *Peer) OfferReservation(ctx context.Context, b Booking) (r Reservation, booked bool, err error) {
	res, err := call(ctx, p.client.OfferReservation, &droverv1.OfferReservationRequest{Booking: b.m})
	if err == nil && res.GetRefusal() != nil {
		err = Refused(rpc.ProblemOf(res.GetRefusal()))
	}
	return Reservation{res.GetReservation()}, res.GetBooked(), err
}

// ListReservations asks the server for its reservations.
func (p *Peer) ListReservations(ctx context.Context, filter string) ([]Reservation, error) {
	res, err := call(ctx, p.client.ListReservations, &droverv1.ServerServiceListReservationsRequest{
		Filter: filter, PageSize: rpc.LargestPage,
	})
	var out []Reservation
	for _, r := range res.GetReservations() {
		out = append(out, Reservation{r})
	}
	return out, err
}

// CancelReservation cancels a reservation.
func (p *Peer) CancelReservation(ctx context.Context, id string) (Reservation, error) {
	res, err := call(ctx, p.client.CancelReservation, &droverv1.CancelReservationRequest{Id: id})
	return Reservation{res.GetReservation()}, err
}
