package server

import (
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Where processors are shared, who can use less of one is done as soon beside a job that
// wants all of it; where they are given whole, it makes no difference.
func TestTheCPUOfARequestCountsWhereProcessorsAreShared(t *testing.T) {
	for policy, shared := range map[string]bool{"dfrs": true, "easy": false, "fcfs": false, "cbf": false} {
		t.Run(policy, func(t *testing.T) {
			cfg := sharingSite(t, "nodes: [{processors: 1}]")
			cfg.Policy.Name = policy
			s := start(t, cfg)
			busy := s.submit(t, &droverv1.Request{Service: "spin"})
			s.until(t, busy.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
			completion := func(cpu float64) time.Duration {
				res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "short", Cpu: cpu}})
				if err != nil || res.GetQuote().GetRefusal() != nil {
					t.Fatalf("%v, %v", res, err)
				}
				return res.GetQuote().GetCompletion().AsDuration()
			}
			whole, part := completion(1), completion(0.25)
			gain := whole - part
			if shared && gain < 5*time.Second || !shared && (gain > time.Second || gain < -time.Second) {
				t.Errorf("done after %v with a whole processor, after %v with a quarter", whole, part)
			}
			t.Logf("done after %v with a whole processor, after %v with a quarter", whole, part)
		})
	}
}
