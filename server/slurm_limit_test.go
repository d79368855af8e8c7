package server

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// What the partition allows a job is found at start: who asks for more is told by the
// server, and not by Slurm when the job is submitted.
func TestThePartitionsLimitsAreThoseOfTheSite(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{
		Name: "a", Nodes: 3, CPUs: 2, Partitions: []string{"PartitionName=short Nodes=ALL Default=YES MaxTime=2 MaxNodes=2 State=UP"},
		Lines: []string{"EnforcePartLimits=NO"}, // Slurm would let it wait for ever
	})[0]
	s := start(t, slurmSite(t, c, "on_stop: end"))
	described, err := s.client.Describe(within(t), &droverv1.DescribeRequest{})
	if l := described.GetSite().GetLimits(); err != nil || l.GetWidth() != 4 || l.GetWalltime().AsDuration() != 2*time.Minute {
		t.Errorf("%v, %v", l, err)
	}
	for field, r := range map[string]*droverv1.Request{
		"request.walltime": {Service: "print", Walltime: durationpb.New(121 * time.Second)},
		"request.width":    {Service: "block", Width: 5},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: r})
		if _, why := detail(t, err); why.GetField() != field || !strings.HasPrefix(why.GetReason(), "too-") {
			t.Errorf("%s: %v", field, err)
		}
	}
	fits := s.submit(t, &droverv1.Request{Service: "print", Walltime: durationpb.New(2 * time.Minute)})
	s.until(t, fits.GetId(), done)
}
