package server

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// BenchmarkDraft measures a round's calls over a socket with 10,000 jobs waiting, and the
// longest time that another client's call takes meanwhile.
//
//	go test -run - -bench Draft -benchtime 3x ./server
func BenchmarkDraft(b *testing.B) {
	const waiting = 10_000
	for _, policy := range benchPolicies {
		g := newGround(b)
		s := start(b, loaded(b, policy))
		occupy(b, s, g)
		s.fill(b, waiting, queued(g))
		var questions, stand []*droverv1.DraftQuestion
		var leave []*droverv1.DraftEdit
		var jobs []site.Job
		if err := s.see(b.Context(), func() {
			jobs, _ = s.core.List(site.Filter{State: site.Waiting}, 0,
				waiting)
		}); err != nil {
			b.Fatal(err)
		}
		request := queued(g)
		for i := range jobs {
			id := string(jobs[i].ID)
			stand = append(stand, &droverv1.DraftQuestion{JobId: id})
			leave = append(leave, &droverv1.DraftEdit{JobId: id})
			questions = append(questions, &droverv1.DraftQuestion{JobId: id, Request: request(i)})
		}
		back := make([]*droverv1.DraftEdit, 1000)
		for i := range back {
			back[i] = &droverv1.DraftEdit{JobId: leave[i].GetJobId(), Put: true, Request: request(i)}
		}
		for _, c := range []struct {
			name string
			req  *droverv1.DraftRequest
		}{
			{"begin", &droverv1.DraftRequest{}},
			{"begin+10000 as they stand", &droverv1.DraftRequest{Questions: stand}},
			{"begin+10000 tuned", &droverv1.DraftRequest{Questions: questions}},
			{"begin+9999 taken out+1 tuned", &droverv1.DraftRequest{Edits: leave[1:], Questions: questions[:1]}},
			{"begin+1000 taken out and put back", &droverv1.DraftRequest{Edits: append(leave[:1000:1000], back...)}},
		} {
			c.req.Round, c.req.Begin = "r", true
			b.Run(fmt.Sprintf("%s/%s", policy, c.name), func(b *testing.B) {
				others := s.others(b)
				for b.Loop() {
					res := s.draft(b, c.req)
					for _, q := range append(res.GetEdits(), res.GetAnswers()...) {
						if q.GetRefusal() != nil {
							b.Fatal(q.GetRefusal())
						}
					}
				}
				b.ReportMetric(float64(others().Microseconds())/1000, "others-ms")
			})
		}
		g.open()
		if err := s.stop(); err != nil {
			b.Fatal(err)
		}
	}
}

// others polls the status. The returned function stops the polling and returns the longest
// time of a call.
func (s *testSite) others(b *testing.B) func() time.Duration {
	ctx, cancel := context.WithCancel(b.Context())
	var (
		longest time.Duration
		asking  sync.WaitGroup
	)
	asking.Go(func() {
		for ctx.Err() == nil {
			begin := time.Now()
			_, _ = s.client.GetStatus(ctx, &droverv1.GetStatusRequest{})
			longest = max(longest, time.Since(begin))
		}
	})
	return func() time.Duration {
		cancel()
		asking.Wait()
		return longest
	}
}
