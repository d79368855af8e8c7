package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/gossip"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/rpcface"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// serverRole is the role of members that are servers.
const serverRole = gossip.Server

// peers is the PeerService.
type peers struct{ s *Server }

var _ droverv1connect.PeerServiceHandler = peers{}

// The kinds of answers on the wire.
var (
	reserveOut = map[site.MessageKind]droverv1.ReserveAnswer{
		site.Reserved:   droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED,
		site.Superseded: droverv1.ReserveAnswer_RESERVE_ANSWER_SUPERSEDED,
		site.Refused:    droverv1.ReserveAnswer_RESERVE_ANSWER_REFUSED,
	}
	resolveOut = map[site.MessageKind]droverv1.ResolveAnswer{
		site.Pending:   droverv1.ResolveAnswer_RESOLVE_ANSWER_PENDING,
		site.Aborted:   droverv1.ResolveAnswer_RESOLVE_ANSWER_ABORTED,
		site.Committed: droverv1.ResolveAnswer_RESOLVE_ANSWER_COMMITTED,
	}
	reserveIn = inverse(reserveOut)
	resolveIn = inverse(resolveOut)
)

func inverse[K, V comparable](m map[K]V) map[V]K {
	out := make(map[V]K, len(m))
	for k, v := range m {
		out[v] = k
	}
	return out
}

// Reserve gives a job of the caller a place.
func (p peers) Reserve(ctx context.Context, req *droverv1.ReserveRequest) (*droverv1.ReserveResponse, error) {
	if err := p.s.checkSite("from", req.GetFrom()); err != nil {
		return nil, err
	}
	if req.GetEpoch() == 0 {
		return nil, &rpcface.Problem{Reason: rpcface.OutOfRange, Field: "epoch", Accepted: "1 or more", Message: "epoch: 0"}
	}
	if len(req.GetMoves()) > mostHistory {
		return nil, &rpcface.Problem{
			Reason: rpcface.OutOfRange, Field: "moves", Accepted: fmt.Sprintf("at most %d", mostHistory),
			Message: fmt.Sprintf("moves: %d", len(req.GetMoves())),
		}
	}
	request, err := requestIn(req.GetRequest())
	if err != nil {
		return nil, err
	}
	age, err := durationIn("age", req.GetAge())
	if err != nil {
		return nil, err
	}
	sent, err := timeIn("sent_at", req.GetSentAt())
	if err != nil {
		return nil, err
	}
	present := batch.Forever
	if req.GetPresentCompletion() != nil {
		if present, err = durationIn("present_completion", req.GetPresentCompletion()); err != nil {
			return nil, err
		}
	}
	parcel := &site.Parcel{Dossier: &site.Dossier{Request: *request}, Sent: sent, Age: age, Present: present}
	if req.GetDecision() != nil {
		if parcel.Dossier.Decision, err = proto.Marshal(req.GetDecision()); err != nil {
			return nil, fmt.Errorf("decision record: %w", err)
		}
	}
	if err := checkSize(req, parcel.Dossier); err != nil {
		return nil, err
	}
	for i, m := range req.GetMoves() {
		field := fmt.Sprintf("moves[%d]", i)
		err := words(longestText, field+".reason", m.GetReason(), field+".aborted_why", m.GetAbortedWhy())
		if err == nil {
			err = words(longestWord, field+".from", m.GetFrom(), field+".to", m.GetTo(), field+".agent", m.GetAgent())
		}
		if err != nil {
			return nil, err
		}
		move, err := moveIn(m)
		if err != nil {
			return nil, err
		}
		parcel.Moves = append(parcel.Moves, move)
	}
	answer, err := p.s.reserve(ctx, &site.Message{
		Kind: site.Reserve, From: req.GetFrom(), To: p.s.cfg.Name, Job: batch.JobID(req.GetJobId()), Epoch: req.GetEpoch(), Parcel: parcel,
	})
	if err != nil {
		return nil, err
	}
	out := &droverv1.ReserveResponse{Answer: reserveOut[answer.Kind], Why: answer.Why}
	if answer.Kind == site.Reserved {
		out.Shape, out.Completion = shapeOut(answer.Shape), durationOut(answer.Completion)
	}
	return out, nil
}

// Confirm hands a job over.
func (p peers) Confirm(ctx context.Context, req *droverv1.ConfirmRequest) (*droverv1.ConfirmResponse, error) {
	answer, err := p.receive(ctx, site.Confirm, req)
	if err != nil {
		return nil, err
	}
	return &droverv1.ConfirmResponse{Superseded: answer.Kind == site.Superseded}, nil
}

// Drop takes a reservation back.
func (p peers) Drop(ctx context.Context, req *droverv1.DropRequest) (*droverv1.DropResponse, error) {
	if _, err := p.receive(ctx, site.Drop, req); err != nil {
		return nil, err
	}
	return &droverv1.DropResponse{}, nil
}

// Resolve says what became of a move.
func (p peers) Resolve(ctx context.Context, req *droverv1.ResolveRequest) (*droverv1.ResolveResponse, error) {
	answer, err := p.receive(ctx, site.Resolve, req)
	if err != nil {
		return nil, err
	}
	return &droverv1.ResolveResponse{Answer: resolveOut[answer.Kind]}, nil
}

// step is what the shorter questions of a move have in common.
type step interface {
	GetJobId() string
	GetEpoch() uint32
	GetFrom() string
}

func (p peers) receive(ctx context.Context, kind site.MessageKind, req step) (site.Message, error) {
	return p.s.receive(ctx, &site.Message{Kind: kind, From: req.GetFrom(), To: p.s.cfg.Name, Job: batch.JobID(req.GetJobId()), Epoch: req.GetEpoch()})
}

// ReadContent sends an input file of a job.
func (p peers) ReadContent(ctx context.Context, req *droverv1.ReadContentRequest, stream *connect.ServerStream[droverv1.ReadContentResponse]) error {
	if req.GetOffset() < 0 {
		return &rpcface.Problem{Reason: rpcface.OutOfRange, Field: "offset", Accepted: "0 or more", Message: fmt.Sprintf("offset %d", req.GetOffset())}
	}
	f, err := p.s.openInput(ctx, req.GetJobId(), req.GetArgument())
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, chunk)
	for at := req.GetOffset(); ; {
		n, err := f.ReadAt(buf, at)
		if n > 0 {
			if err := stream.Send(&droverv1.ReadContentResponse{Data: buf[:n], Offset: at}); err != nil {
				return err
			}
			at += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("input of job %s: %w", req.GetJobId(), err)
		}
	}
}

// peerFace calls other servers.
type peerFace struct{ transport *http.Transport }

func newPeerFace() *peerFace {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	return &peerFace{transport: &http.Transport{
		Protocols:   &only,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		// A server whose host has gone must not hold a connection for ever.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}}
}

func (f *peerFace) client(url string) droverv1connect.PeerServiceClient {
	return droverv1connect.NewPeerServiceClient(&http.Client{Transport: f.transport}, url, connect.WithReadMaxBytes(rpcface.LargestMessage))
}

// carry sends a message to a server and returns its answer.
func (f *peerFace) carry(ctx context.Context, url string, m *site.Message) (site.Message, error) {
	answer := site.Message{From: m.To, To: m.From, Job: m.Job, Epoch: m.Epoch}
	c := f.client(url)
	job, epoch, from := string(m.Job), m.Epoch, m.From
	switch m.Kind {
	case site.Reserve:
		req := &droverv1.ReserveRequest{
			JobId: job, Epoch: epoch, From: from, Request: requestOut(&m.Parcel.Dossier.Request), Age: durationOut(m.Parcel.Age),
			SentAt: timeOut(m.Parcel.Sent), Decision: decisionOut(m.Parcel.Dossier.Decision),
		}
		if m.Parcel.Present != batch.Forever {
			req.PresentCompletion = durationOut(m.Parcel.Present)
		}
		for i := range m.Parcel.Moves {
			req.Moves = append(req.Moves, moveOut(m.Job, "", &m.Parcel.Moves[i]))
		}
		res, err := c.Reserve(ctx, req)
		if err != nil {
			return answer, fmt.Errorf("reserve: %w", err)
		}
		answer.Kind, answer.Why = reserveIn[res.GetAnswer()], res.GetWhy()
		answer.Shape = batch.Shape{Width: res.GetShape().GetWidth()}
		if answer.Shape.Walltime, err = durationIn("shape.walltime", res.GetShape().GetWalltime()); err != nil {
			return answer, err
		}
		if answer.Completion, err = durationIn("completion", res.GetCompletion()); err != nil {
			return answer, err
		}
	case site.Confirm:
		res, err := c.Confirm(ctx, &droverv1.ConfirmRequest{JobId: job, Epoch: epoch, From: from})
		if err != nil {
			return answer, fmt.Errorf("confirm: %w", err)
		}
		if answer.Kind = site.Confirmed; res.GetSuperseded() {
			answer.Kind = site.Superseded
		}
	case site.Drop:
		if _, err := c.Drop(ctx, &droverv1.DropRequest{JobId: job, Epoch: epoch, From: from}); err != nil {
			return answer, fmt.Errorf("drop: %w", err)
		}
		answer.Kind = site.Dropped
	case site.Resolve:
		res, err := c.Resolve(ctx, &droverv1.ResolveRequest{JobId: job, Epoch: epoch, From: from})
		if err != nil {
			return answer, fmt.Errorf("resolve: %w", err)
		}
		answer.Kind = resolveIn[res.GetAnswer()]
	}
	return answer, nil
}

// read returns an input file of another server's job. What fails is told by Read.
func (f *peerFace) read(ctx context.Context, url string, id batch.JobID, argument string) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := f.client(url).ReadContent(ctx, &droverv1.ReadContentRequest{JobId: string(id), Argument: argument})
	return &content{stream: stream, err: err, cancel: cancel}
}

// content is a stream of pieces as a reader.
type content struct {
	stream *connect.ServerStreamForClient[droverv1.ReadContentResponse]
	rest   []byte
	err    error
	cancel context.CancelFunc
}

// Read is io.Reader's.
func (c *content) Read(p []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		if c.stream.Receive() {
			c.rest = c.stream.Msg().GetData()
			continue
		}
		if c.err = c.stream.Err(); c.err == nil {
			c.err = io.EOF
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, c.err
}

// Close is io.Closer's.
func (c *content) Close() error {
	c.cancel()
	if c.stream == nil {
		return nil
	}
	return c.stream.Close()
}

// The states of a move on the wire.
var (
	moveStatesOut = map[site.MoveState]droverv1.MoveState{
		site.MovePending:   droverv1.MoveState_MOVE_STATE_PENDING,
		site.MoveCommitted: droverv1.MoveState_MOVE_STATE_MOVED,
		site.MoveAborted:   droverv1.MoveState_MOVE_STATE_ABORTED,
	}
	moveStatesIn = inverse(moveStatesOut)
)

// moveOut returns a move for the wire.
func moveOut(id batch.JobID, service string, m *site.Move) *droverv1.Move {
	out := &droverv1.Move{
		JobId: string(id), Service: service, From: m.From, To: m.To, Epoch: m.Epoch, State: moveStatesOut[m.State],
		OrderedAt: timeOut(m.Ordered), SettledAt: timeOut(m.Settled), Reason: m.Reason, Agent: m.Agent, AbortedWhy: m.Why,
	}
	if m.MinGain != site.AnyPrice {
		out.MinGain = gainOut(&m.MinGain)
	}
	out.PredictedGain, out.RealisedGain = gainOut(m.Predicted), gainOut(m.Realised)
	return out
}

// moveIn is the inverse of moveOut.
func moveIn(m *droverv1.Move) (site.Move, error) {
	out := site.Move{
		From: m.GetFrom(), To: m.GetTo(), Epoch: m.GetEpoch(), State: moveStatesIn[m.GetState()],
		Reason: m.GetReason(), Agent: m.GetAgent(), Why: m.GetAbortedWhy(), MinGain: gainIn(m.GetMinGain()),
	}
	if m.GetPredictedGain() != nil {
		gain := gainIn(m.GetPredictedGain())
		out.Predicted = &gain
	}
	if m.GetRealisedGain() != nil {
		gain := gainIn(m.GetRealisedGain())
		out.Realised = &gain
	}
	var err error
	if out.Ordered, err = timeIn("moves.ordered_at", m.GetOrderedAt()); err != nil {
		return out, err
	}
	out.Settled, err = timeIn("moves.settled_at", m.GetSettledAt())
	return out, err
}

// gainOut returns a time that may be negative for the wire, nil for nil.
func gainOut(d *batch.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	if *d < 0 {
		out := durationOut(-max(*d, -batch.Forever))
		out.Seconds, out.Nanos = -out.GetSeconds(), -out.GetNanos()
		return out
	}
	return durationOut(*d)
}

// gainIn is the inverse of gainOut; nil, and a loss beyond reason, are a move at
// any price.
func gainIn(d *durationpb.Duration) batch.Duration {
	const century = 100 * 365 * 24 * 3600 // nobody waits so long for a job
	if d == nil || d.GetSeconds() <= -century {
		return site.AnyPrice
	}
	s := min(d.GetSeconds(), longest)
	return batch.Duration(s)*batch.Second + batch.Duration(d.GetNanos()/1000)
}
