package server

import (
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestEstimatesStateTheirReliability(t *testing.T) {
	for policy, want := range map[string]droverv1.EstimateKind{
		"cbf":  droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
		"easy": droverv1.EstimateKind_ESTIMATE_KIND_FORECAST,
		"fcfs": droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
	} {
		t.Run(policy, func(t *testing.T) {
			s := start(t, configured(t, "policy: {name: "+policy+"}\nspeed: 2\n"))
			ask := func(notBefore int64) *droverv1.Quote {
				t.Helper()
				res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{
					Request: &droverv1.Request{Service: "block"}, NotBefore: seconds(notBefore),
				})
				if err != nil {
					t.Fatal(err)
				}
				q, worth := res.GetQuote(), want
				if policy == "fcfs" && notBefore > 0 { // a job that starts before then can delay it
					worth = droverv1.EstimateKind_ESTIMATE_KIND_FORECAST
				}
				if q.GetKind() != worth || q.GetStateAge() == nil || q.GetStateAge().AsDuration() < 0 ||
					q.GetCompletion().AsDuration() != q.GetWait().AsDuration()+q.GetRun().AsDuration() {
					t.Errorf("quote: %v", q)
				}
				return q
			}
			// 40 s on four processors at speed 1.0, with a quarter added, at twice the speed.
			if q := ask(0); q.GetWidth() != 4 || q.GetWait().GetSeconds() != 0 || q.GetRun().GetSeconds() != 25 ||
				q.GetWalltime().GetSeconds() != 25 {
				t.Errorf("on an empty site: %v", q)
			}
			if q := ask(1000); q.GetWait().GetSeconds() != 1000 || q.GetWait().GetNanos() > 1e8 {
				t.Errorf("with an input that arrives after 1000 s: %v", q)
			}
			j := s.submit(t, &droverv1.Request{Service: "block", Width: 2, Walltime: seconds(500)})
			s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
			// 60 s at speed 1.0 on the two free processors beat four processors after 500 s.
			if q := ask(0); q.GetWidth() != 2 || q.GetWait().GetSeconds() != 0 || q.GetRun().GetSeconds() != 38 {
				t.Errorf("beside a running job: %v", q)
			}
			if q := ask(500); q.GetWidth() != 4 || q.GetWait().GetSeconds() < 500 || q.GetWait().GetSeconds() > 501 {
				t.Errorf("after the running job: %v", q)
			}
		})
	}
}

// Jobs with an estimate of half a minute end at once. The server reports this error, and
// so does the next server on the same directory.
func TestAccuracyIsReportedAndSurvivesARestart(t *testing.T) {
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
		estimate, err := s.client.Estimate(within(t),
			&droverv1.EstimateRequest{Request: &droverv1.Request{Service: "print"}})
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
				a.GetStart().GetP90().AsDuration().Seconds() > 5 ||
				a.GetKind() != droverv1.EstimateKind_ESTIMATE_KIND_FORECAST {
				t.Errorf("%v", a)
			}
		}
		if plain, err := s.client.GetStatus(within(t), &droverv1.GetStatusRequest{}); err != nil ||
			len(plain.GetStatus().GetAccuracy()) != 0 {
			t.Errorf("accuracy without a request for it: %v, %v", plain, err)
		}
	}
	check(s)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	check(start(t, cfg))
}
