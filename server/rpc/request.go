package rpc

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// RequestIn converts a request that rpc.Check has accepted.
func RequestIn(r *droverv1.Request) (*site.Request, error) {
	out := &site.Request{
		Service: r.GetService(), Width: r.GetWidth(), Owner: r.GetOwner(), Origin: batch.Grid,
		Memory: r.GetMemoryBytes(), Input: r.GetInputBytes(), InputSite: r.GetInputSite(),
		Idempotent: r.GetIdempotent(), RetryOf: r.GetRetryOf(), Labels: r.GetLabels(),
	}
	out.Walltime, out.Deadline, out.EarliestStart = durationIn(r.GetWalltime()), timeIn(r.GetDeadline()),
		timeIn(r.GetEarliestStart())
	out.CPU = batch.Share(math.Ceil(r.GetCpu() * float64(batch.One)))
	out.Into, out.Site = batch.JobID(r.GetInto()), r.GetSite()
	var err error
	if out.After, err = afterIn(r.GetAfter()); err != nil {
		return nil, err
	}
	out.Retries, out.RetryOn = r.GetRetries(), r.GetRetryOn()
	if out.Keep, err = keepIn(r.GetKeep()); err != nil {
		return nil, err
	}
	if a := r.GetAgreement(); a != nil {
		out.Agreement = &site.Agreement{Value: a.GetValue(), Penalty: a.GetPenalty(), Checkpoint: a.GetCheckpointable()}
	}
	for _, s := range r.GetShapes() {
		out.Menu = append(out.Menu, shapeIn(s))
	}
	for _, l := range r.GetLicenses() {
		out.Licenses = append(out.Licenses, batch.License{Name: l.GetName(), Copies: l.GetCopies()})
	}
	if len(r.GetArguments()) > 0 {
		out.Arguments = make(map[string]catalogue.Value, len(r.GetArguments()))
	}
	for name, v := range r.GetArguments() {
		if out.Arguments[name], err = valueIn(name, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// valueIn converts an argument's value. A text is accepted for every type except a file, so that a
// person's "3" can be a number.
func valueIn(name string, v *droverv1.Value) (catalogue.Value, error) {
	switch k := v.GetKind().(type) {
	case *droverv1.Value_IntValue:
		return catalogue.Int(k.IntValue), nil
	case *droverv1.Value_FloatValue:
		return catalogue.Float(k.FloatValue), nil
	case *droverv1.Value_StringValue:
		return catalogue.Text(k.StringValue), nil
	case *droverv1.Value_BoolValue:
		return catalogue.Bool(k.BoolValue), nil
	case *droverv1.Value_FileValue:
		return catalogue.FileIn(fileIn(k.FileValue)), nil
	case *droverv1.Value_ArrayValue:
		return arrayIn(name, k.ArrayValue)
	}
	return catalogue.Value{}, &problem.Problem{
		Reason: problem.BadValue, Field: "request.arguments." + name,
		Accepted: "a value of a type that this server knows",
		Message:  fmt.Sprintf("argument %s: no value", name),
	}
}

// valueOut is the inverse of valueIn; nil for no value.
func valueOut(v catalogue.Value) *droverv1.Value {
	switch v.Type() {
	case catalogue.TypeInt:
		return &droverv1.Value{Kind: &droverv1.Value_IntValue{IntValue: v.Int()}}
	case catalogue.TypeFloat:
		return &droverv1.Value{Kind: &droverv1.Value_FloatValue{FloatValue: v.Float()}}
	case catalogue.TypeString, catalogue.TypeText:
		return &droverv1.Value{Kind: &droverv1.Value_StringValue{StringValue: v.Text()}}
	case catalogue.TypeBool:
		return &droverv1.Value{Kind: &droverv1.Value_BoolValue{BoolValue: v.Bool()}}
	case catalogue.TypeFileIn:
		return &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: fileOut(v.File())}}
	case catalogue.TypeVector, catalogue.TypeMatrix:
		return &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: arrayOut(v)}}
	}
	return nil
}

// requestOut is the inverse of RequestIn.
func requestOut(r *site.Request) *droverv1.Request {
	out := &droverv1.Request{
		Service: r.Service, Owner: r.Owner, Width: r.Width, Deadline: timeOut(r.Deadline),
		EarliestStart: timeOut(r.EarliestStart),
		MemoryBytes:   r.Memory, Cpu: float64(r.CPU) / float64(batch.One), InputBytes: r.Input, InputSite: r.InputSite,
		Idempotent: r.Idempotent, RetryOf: r.RetryOf, Labels: r.Labels,
	}
	out.Into, out.Site = string(r.Into), r.Site
	out.Keep = keepOut(r.Keep)
	out.After, out.Retries, out.RetryOn = afterOut(r.After), r.Retries, r.RetryOn
	if a := r.Agreement; a != nil {
		out.Agreement = &droverv1.Agreement{Value: a.Value, Penalty: a.Penalty, Checkpointable: a.Checkpoint}
	}
	if r.Walltime > 0 {
		out.Walltime = rpc.Duration(r.Walltime)
	}
	for _, s := range r.Menu {
		out.Shapes = append(out.Shapes, rpc.Shape(s))
	}
	for _, l := range r.Licenses {
		out.Licenses = append(out.Licenses, &droverv1.License{Name: l.Name, Copies: l.Copies})
	}
	if len(r.Arguments) > 0 {
		out.Arguments = make(map[string]*droverv1.Value, len(r.Arguments))
	}
	for name, v := range r.Arguments {
		out.Arguments[name] = valueOut(v)
	}
	return out
}

func shapeIn(s *droverv1.Shape) batch.Shape {
	return batch.Shape{Width: s.GetWidth(), Walltime: durationIn(s.GetWalltime())}
}

// The types of elements on the wire.
var (
	elementsOut = map[catalogue.Element]droverv1.ElementType{
		catalogue.Float64:    droverv1.ElementType_ELEMENT_TYPE_FLOAT64,
		catalogue.Float32:    droverv1.ElementType_ELEMENT_TYPE_FLOAT32,
		catalogue.Int64:      droverv1.ElementType_ELEMENT_TYPE_INT64,
		catalogue.Int32:      droverv1.ElementType_ELEMENT_TYPE_INT32,
		catalogue.Uint8:      droverv1.ElementType_ELEMENT_TYPE_UINT8,
		catalogue.Complex128: droverv1.ElementType_ELEMENT_TYPE_COMPLEX128,
	}
	elementsIn = inverse(elementsOut)
)

func fileIn(f *droverv1.File) catalogue.File {
	return catalogue.File{SHA256: f.GetSha256(), Size: f.GetSizeBytes(), Name: f.GetName(), Data: f.GetDataId()}
}

func fileOut(f catalogue.File) *droverv1.File {
	return &droverv1.File{Sha256: f.SHA256, SizeBytes: f.Size, Name: f.Name, DataId: f.Data}
}

// arrayIn converts a vector or matrix. The catalogue checks whether it fits its argument.
func arrayIn(name string, a *droverv1.Array) (catalogue.Value, error) {
	v := catalogue.Array(fileIn(a.GetContent()), catalogue.Layout{
		Element: elementsIn[a.GetElement()],
		Dims:    a.GetDimensions(),
	})
	if v.Type() == 0 {
		return v, &problem.Problem{
			Reason: problem.WrongDimensions, Field: "request.arguments." + name,
			Accepted: "1 dimension of a vector, 2 of a matrix",
			Message:  fmt.Sprintf("argument %s: %d dimensions", name, len(a.GetDimensions())),
		}
	}
	return v, nil
}

// arrayOut is the inverse of arrayIn.
func arrayOut(v catalogue.Value) *droverv1.Array {
	l := v.Layout()
	return &droverv1.Array{Content: fileOut(v.File()), Element: elementsOut[l.Element], Dimensions: l.Dims}
}

// afterIn converts the dependencies of a request.
func afterIn(list []*droverv1.Dependency) ([]site.Dependency, error) {
	var out []site.Dependency
	for _, d := range list {
		switch d.GetCondition() {
		case droverv1.DependencyCondition_DEPENDENCY_CONDITION_UNSPECIFIED,
			droverv1.DependencyCondition_DEPENDENCY_CONDITION_DONE,
			droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY:
		default:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: "request.after", Accepted: "the conditions DONE and ANY",
				Message: "request.after: unknown condition: " + d.GetCondition().String(),
			}
		}
		out = append(out, site.Dependency{
			Job: batch.JobID(d.GetJobId()),
			Any: d.GetCondition() == droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY,
		})
	}
	return out, nil
}

// afterOut is the inverse of afterIn.
func afterOut(list []site.Dependency) []*droverv1.Dependency {
	var out []*droverv1.Dependency
	for _, d := range list {
		condition := droverv1.DependencyCondition_DEPENDENCY_CONDITION_DONE
		if d.Any {
			condition = droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY
		}
		out = append(out, &droverv1.Dependency{JobId: string(d.Job), Condition: condition})
	}
	return out
}

// awaitsOut returns the IDs of the jobs that a job waits for, each once.
func awaitsOut(list []site.Dependency) []string {
	var out []string
	seen := make(map[batch.JobID]bool)
	for _, d := range list {
		if !seen[d.Job] {
			seen[d.Job] = true
			out = append(out, string(d.Job))
		}
	}
	return out
}
