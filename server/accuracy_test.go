package server

import (
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Jobs that were estimated at half a minute end at once. Who asks is told so, and
// still is by the next server on this directory.
func TestAccuracyIsToldAndOutlivesTheServer(t *testing.T) {
	const jobs = 12
	cfg := configured(t, "policy: {name: easy}\n")
	s := start(t, cfg)
	for range jobs {
		j := s.submit(t, &droverv1.Request{Service: "print"})
		s.until(t, j.GetId(), done)
	}
	failing := s.submit(t, &droverv1.Request{Service: "print", Arguments: arguments{"code": number(3)}})
	s.until(t, failing.GetId(), failed)
	check := func(s *testSite) {
		t.Helper()
		estimate, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "print"}})
		if err != nil {
			t.Fatal(err)
		}
		status, err := s.client.GetStatus(within(t), &droverv1.GetStatusRequest{Accuracy: true})
		if err != nil || len(status.GetStatus().GetAccuracy()) != 1 {
			t.Fatalf("%v, %v", status, err)
		}
		for _, a := range []*droverv1.Accuracy{estimate.GetAccuracy(), status.GetStatus().GetAccuracy()[0]} {
			late := a.GetCompletion().GetBias().AsDuration().Seconds()
			if a.GetService() != "print" || a.GetJobs() != jobs || late > -30 || late < -38 || a.GetRunRatio() > 0.2 ||
				a.GetStart().GetP90().AsDuration().Seconds() > 5 || a.GetKind() != droverv1.EstimateKind_ESTIMATE_KIND_FORECAST {
				t.Errorf("%v", a)
			}
		}
		if plain, err := s.client.GetStatus(within(t), &droverv1.GetStatusRequest{}); err != nil || len(plain.GetStatus().GetAccuracy()) != 0 {
			t.Errorf("nobody asked: %v, %v", plain, err)
		}
	}
	check(s)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	check(start(t, cfg))
}
