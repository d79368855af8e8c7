package client

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// requestOut returns a request as it is sent.
func requestOut(r *request) *droverv1.Request {
	if r.again != nil {
		return r.again.out(r.retryOf)
	}
	m := &droverv1.Request{
		Service: r.service, Owner: r.owner, RetryOf: r.retryOf, MemoryBytes: r.memory, Cpu: r.cpu,
		Agreement: agreementOut(r.terms), Into: r.into,
		InputSite: r.inputSite, Idempotent: r.idempotent, Labels: r.labels, Arguments: make(map[string]*droverv1.Value),
	}
	for _, a := range r.args {
		m.Arguments[a.name] = valueOut(a.value)
	}
	orderOut(m, r)
	if r.width != nil {
		m.Width = int32(*r.width)
	}
	if r.walltime != nil {
		m.Walltime = durationpb.New(*r.walltime)
	}
	if !r.deadline.IsZero() {
		m.Deadline = timestamppb.New(r.deadline)
	}
	if !r.earliest.IsZero() {
		m.EarliestStart = timestamppb.New(r.earliest)
	}
	for _, s := range r.shapes {
		m.Shapes = append(m.Shapes, &droverv1.Shape{Width: int32(s.Width), Walltime: durationpb.New(s.Walltime)})
	}
	m.Keep = keepOut(r.keep)
	for _, l := range r.licenses {
		m.Licenses = append(m.Licenses, &droverv1.License{Name: l.name, Copies: int32(l.copies)})
	}
	return m
}

func valueOut(v any) *droverv1.Value {
	switch v := v.(type) {
	case int64:
		return &droverv1.Value{Kind: &droverv1.Value_IntValue{IntValue: v}}
	case float64:
		return &droverv1.Value{Kind: &droverv1.Value_FloatValue{FloatValue: v}}
	case bool:
		return &droverv1.Value{Kind: &droverv1.Value_BoolValue{BoolValue: v}}
	case *file:
		return fileOut(v)
	case *stored:
		return v.valueOut()
	case typed:
		return valueOut(string(v))
	default:
		s, _ := v.(string)
		return &droverv1.Value{Kind: &droverv1.Value_StringValue{StringValue: s}}
	}
}

// textOf returns a value for people, "" for none.
func textOf(v *droverv1.Value) string {
	switch k := v.GetKind().(type) {
	case *droverv1.Value_IntValue:
		return strconv.FormatInt(k.IntValue, 10)
	case *droverv1.Value_FloatValue:
		return strconv.FormatFloat(k.FloatValue, 'g', -1, 64)
	case *droverv1.Value_StringValue:
		return k.StringValue
	case *droverv1.Value_BoolValue:
		return strconv.FormatBool(k.BoolValue)
	case *droverv1.Value_FileValue:
		return nameOf(k.FileValue)
	case *droverv1.Value_ArrayValue:
		return arrayName(k.ArrayValue)
	}
	return ""
}

// word returns the part of an enum's name after its prefix, in lower case.
func word(name, prefix string) string {
	w := strings.ToLower(strings.TrimPrefix(name, prefix))
	if w == "unspecified" {
		return ""
	}
	return strings.ReplaceAll(w, "_", "-")
}

func needsIn(n *droverv1.TaskNeeds) *TaskNeeds {
	if n == nil {
		return nil
	}
	return &TaskNeeds{
		DeclaredCPU: n.GetDeclaredCpu(), DeclaredMemory: n.GetDeclaredMemoryBytes(),
		MeasuredCPU: n.GetMeasuredCpu(), MeasuredMemory: n.GetMeasuredMemoryBytes(),
	}
}

func jobIn(j *droverv1.Job) *Job {
	out := &Job{
		ID: j.GetId(), State: State(word(j.GetState().String(), "JOB_STATE_")), Site: j.GetSite(),
		Service: j.GetRequest().GetService(), Owner: j.GetRequest().GetOwner(), Labels: maps.Clone(j.GetRequest().GetLabels()),
		Arguments: make(map[string]string), Shape: shapeIn(j.GetShape()),
		Submitted: timeIn(j.GetSubmittedAt()), Started: timeIn(j.GetStartedAt()), Ended: timeIn(j.GetEndedAt()),
		EstimatedWait: j.GetEstimatedWait().AsDuration(), EstimatedCompletion: j.GetEstimatedCompletion().AsDuration(),
		EstimateKind: kindIn(j.GetEstimateKind()), Decision: decisionIn(j.GetDecision()), Nodes: slices.Clone(j.GetNodes()),
		Epoch: j.GetEpoch(), MovedTo: j.GetMovedTo(), Revision: j.GetRevision(), Peer: j.GetPeer(),
		CancelRecorded: j.GetCancelRecorded(), Attempt: int(j.GetAttempt()), RetryOf: j.GetRetryOf(), UnknownFor: j.GetUnknownFor().AsDuration(),
		Outcome: Outcome{
			ExitCode: int(j.GetOutcome().GetExitCode()), Signal: j.GetOutcome().GetSignal(), Reason: j.GetOutcome().GetReason(),
		},
	}
	out.Checkpoints, out.CheckpointedAfter = int(j.GetCheckpoints()), j.GetCheckpointedAfter().AsDuration()
	out.Deadline, out.Into = timeIn(j.GetRequest().GetDeadline()), j.GetRequest().GetInto()
	out.Agreement, out.Terms = AgreementState(word(j.GetAgreement().String(), "AGREEMENT_STATE_")), termsIn(j.GetRequest().GetAgreement())
	orderIn(out, j)
	out.Kept = keptIn(j.GetRequest())
	out.Needs = needsIn(j.GetNeeds())
	for name, v := range j.GetRequest().GetArguments() {
		out.Arguments[name] = textOf(v)
	}
	for _, m := range j.GetMoves() {
		out.Moves = append(out.Moves, moveIn(m))
	}
	for _, o := range j.GetOutputs() {
		out.Outputs = append(out.Outputs, outputIn(o))
	}
	return out
}

func shapeIn(s *droverv1.Shape) Shape {
	return Shape{Width: int(s.GetWidth()), Walltime: s.GetWalltime().AsDuration()}
}

// timeIn returns a time, the zero Time for none.
func timeIn(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func kindIn(k droverv1.EstimateKind) EstimateKind {
	return EstimateKind(word(k.String(), "ESTIMATE_KIND_"))
}

func decisionIn(d *droverv1.DecisionRecord) *Decision {
	if d == nil {
		return nil
	}
	out := &Decision{MadeAt: timeIn(d.GetMadeAt()), Agent: d.GetAgent(), Chosen: d.GetChosen()}
	for _, c := range d.GetCandidates() {
		out.Candidates = append(out.Candidates, Candidate{
			Site: c.GetSite(), Wait: c.GetWait().AsDuration(), Transfer: c.GetTransfer().AsDuration(),
			Run: c.GetRun().AsDuration(), Completion: c.GetCompletion().AsDuration(), Margin: c.GetMargin().AsDuration(),
			StateAge: c.GetStateAge().AsDuration(), Shape: Shape{Width: int(c.GetWidth()), Walltime: c.GetWalltime().AsDuration()},
			Kind: kindIn(c.GetKind()), Probability: c.GetProbability(), Missing: missingIn(c.GetSite(), c.GetMissing()),
			Correction: c.GetCorrection().AsDuration(),
		})
	}
	return out
}

func missingIn(site string, m *droverv1.Missing) *Missing {
	if m == nil {
		return nil
	}
	return &Missing{Site: site, Reason: word(m.GetReason().String(), "MISSING_REASON_"), Detail: errorOf(m.GetDetail())}
}

// addMissing notes the sites that did not answer. One that is silent is so on
// every page.
func addMissing(to map[string]Missing, silent []*droverv1.Candidate) {
	for _, m := range silent {
		if detail := missingIn(m.GetSite(), m.GetMissing()); detail != nil {
			to[m.GetSite()] = *detail
		}
	}
}

func siteIn(k *droverv1.KnownSite) Site {
	s := k.GetSite()
	out := Site{
		Name: s.GetName(), Address: s.GetAddress(), Processors: int(s.GetPlatform().GetProcessors()), Speed: s.GetSpeed(),
		Policy: s.GetPolicy(), Capabilities: slices.Clone(s.GetCapabilities()), MaxWidth: int(s.GetLimits().GetWidth()),
		MaxWalltime: s.GetLimits().GetWalltime().AsDuration(), MaxFile: s.GetLimits().GetFileBytes(),
		HeardAgo: k.GetHeardAgo().AsDuration(), Missing: missingIn(s.GetName(), k.GetMissing()),
	}
	for _, n := range s.GetPlatform().GetNodes() {
		out.Nodes = append(out.Nodes, Node{Name: n.GetName(), Processors: int(n.GetProcessors()), Memory: n.GetMemoryBytes()})
	}
	if q := k.GetStatus(); q != nil {
		out.Status = statusIn(q)
	}
	return out
}

func statusIn(q *droverv1.SiteStatus) *Status {
	var kept []Accuracy
	for _, a := range q.GetAccuracy() {
		kept = append(kept, Accuracy{
			Service: a.GetService(), Jobs: int(a.GetJobs()), Kind: kindIn(a.GetKind()), RunRatio: a.GetRunRatio(),
			Start: errorsIn(a.GetStart()), Completion: errorsIn(a.GetCompletion()),
		})
	}
	return &Status{
		Accuracy: kept,
		Running:  int(q.GetRunning()), Waiting: int(q.GetWaiting()), Busy: int(q.GetProcessorsBusy()),
		Processors: int(q.GetProcessors()), Load: q.GetLoad(), Backlog: q.GetBacklogSeconds(), Ended: q.GetEnded(),
		Draining: q.GetDraining(), Degraded: q.GetDegraded(), Commits: q.GetCommits(), Syncs: q.GetSyncs(),
		Bound: int(q.GetBound()), Agreements: agreementsIn(q.GetAgreements()), Data: usageIn(q.GetData()),
	}
}

func errorsIn(e *droverv1.Errors) Errors {
	return Errors{Bias: e.GetBias().AsDuration(), Median: e.GetMedian().AsDuration(), P50: e.GetP50().AsDuration(), P90: e.GetP90().AsDuration()}
}

func serviceIn(o *droverv1.OfferedService) Service {
	s := o.GetService()
	out := Service{
		Name: s.GetName(), Doc: s.GetDoc(), MinWidth: int(s.GetWidthMin()), MaxWidth: int(s.GetWidthMax()),
		Moldable: s.GetMoldable(), Memory: s.GetMemoryBytes(), Sites: slices.Clone(o.GetSites()),
	}
	for _, a := range s.GetArguments() {
		t := strings.TrimSuffix(word(a.GetType().String(), "ARGUMENT_TYPE_"), "-in")
		out.Arguments = append(out.Arguments, Argument{
			Name: a.GetName(), Doc: a.GetDoc(), Type: ArgumentType(t), Required: a.GetRequired(), Default: textOf(a.GetDefault()),
			Minimum: textOf(a.GetMinimum()), Maximum: textOf(a.GetMaximum()), Choices: slices.Clone(a.GetChoices()),
			Element: elementIn(a.GetElement()), Dimensions: slices.Clone(a.GetDimensions()),
		})
	}
	return out
}
