package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Goals on two cores: 1,000 durable submissions per second from 32 clients, 99% answered
// within 50 ms; with 100,000 waiting jobs, a restart within 5 s and less than 1 KB of
// memory per job.
//
//	go test -run - -bench Submit -benchtime 5000x ./server
//	go test -run - -bench Restart -benchtime 1x ./server
const (
	benchClients = 32
	benchQueue   = 100_000
)

var benchPolicies = []string{"fcfs", "easy", "cbf"}

// loaded returns a configuration and a store with one job on 639 of 640 processors for a
// day, one waiting job that needs all, and the given number of jobs behind it.
func loaded(b *testing.B, policy string) Config {
	b.Helper()
	cfg, err := ParseConfig(fmt.Appendf(nil, `version: 1
name: lyon
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %s
nodes: [{count: 10, processors: 64}]
policy: {name: %s}
on_stop: leave
limits: {waiting: 1000000}
services:
  inline:%s
`, b.TempDir(), policy, ledgerYAML), "")
	if err != nil {
		b.Fatal(err)
	}
	return cfg
}

// crowd submits n requests from 32 clients and returns their times in ascending order.
func crowd(b *testing.B, s *testSite, n int, request func(i int) *droverv1.Request) []time.Duration {
	b.Helper()
	took := make([]time.Duration, n)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = newID(b)
	}
	var next atomic.Int64
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	var all sync.WaitGroup
	for range benchClients {
		all.Go(func() {
			transport := &http.Transport{Protocols: &protocols}
			defer transport.CloseIdleConnections()
			client := droverv1connect.NewServerServiceClient(&http.Client{Transport: transport}, s.URL())
			for i := next.Add(1) - 1; int(i) < n; i = next.Add(1) - 1 {
				begin := time.Now()
				_, err := client.Submit(context.Background(), &droverv1.SubmitRequest{
					JobId: ids[i], Request: request(int(i)),
				})
				if took[i] = time.Since(begin); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// queued returns a request of width 1 to 64 and a walltime of 1 to 11 hours.
func queued(g *ground) func(i int) *droverv1.Request {
	return func(i int) *droverv1.Request {
		return shaped(g, int32(1)<<(i%7), int64(3660+i*7919%600*60))
	}
}

func shaped(g *ground, width int32, walltime int64) *droverv1.Request {
	r := g.request("once", 0, true, 0)
	r.Shapes = []*droverv1.Shape{{Width: width, Walltime: seconds(walltime)}}
	return r
}

// occupy submits the running job and the one that needs all processors.
func occupy(b *testing.B, s *testSite, g *ground) {
	b.Helper()
	for _, width := range []int32{639, 640} {
		j := s.submit(b, shaped(g, width, 3600))
		if width == 639 {
			s.until(b, j.GetId(), running)
		}
	}
}

// fill lets the core accept jobs in batches of a thousand, without estimates.
func (s *testSite) fill(b *testing.B, n int, request func(i int) *droverv1.Request) {
	b.Helper()
	var failed error
	for i := 0; i < n; {
		err := s.do(b.Context(), func() {
			for last := min(i+1000, n); i < last && failed == nil; i++ {
				var r *site.Request
				if r, failed = rpc.RequestIn(request(i)); failed == nil {
					_, failed = s.core.Submit(s.now(), site.Submission{ID: batch.JobID(newID(b)), Request: r},
						anyTime{})
				}
			}
		})
		if err := errors.Join(err, failed); err != nil {
			b.Fatal(err)
		}
	}
}

// anyTime is a planner with all processors free.
type anyTime struct{}

func (anyTime) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	for i := range asks {
		out[i] = batch.Estimate{Starts: slices.Repeat([]batch.Time{now}, len(asks[i].Shapes)), Kind: batch.Forecast}
	}
	return true
}

func BenchmarkSubmit(b *testing.B) {
	for _, policy := range benchPolicies {
		for _, waiting := range []int{0, benchQueue} {
			b.Run(fmt.Sprintf("%s/%d", policy, waiting), func(b *testing.B) {
				g := newGround(b)
				s := start(b, loaded(b, policy))
				defer g.open()
				occupy(b, s, g)
				if waiting > 0 {
					s.fill(b, waiting, queued(g))
				}
				before := s.store.Stats()
				b.ResetTimer()
				took := crowd(b, s, b.N, queued(g))
				b.StopTimer()
				after := s.store.Stats()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(float64(b.N)/float64(max(after.Commits-before.Commits, 1)), "jobs/commit")
			})
		}
	}
}

// BenchmarkRestart measures the time from New until the server answers with 100,000
// waiting jobs, and the memory per job.
func BenchmarkRestart(b *testing.B) {
	for _, policy := range benchPolicies {
		b.Run(policy, func(b *testing.B) {
			g := newGround(b)
			cfg := loaded(b, policy)
			s := start(b, cfg)
			occupy(b, s, g)
			s.fill(b, benchQueue, queued(g))
			if err := s.stop(); err != nil {
				b.Fatal(err)
			}
			s = nil
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				before := heapBytes()
				b.StartTimer()
				s = start(b, cfg)
				if _, err := s.client.GetStatus(b.Context(), &droverv1.GetStatusRequest{}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(heapBytes()-before)/benchQueue, "B/job")
				if name := os.Getenv("SERVER_TEST_HEAP"); name != "" {
					writeHeap(b, filepath.Join(name, policy+".heap"))
				}
				if err := s.stop(); err != nil {
					b.Fatal(err)
				}
				s = nil
				b.StartTimer()
			}
			b.StopTimer()
			g.open()
		})
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC() // the second run frees what finalizers released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func writeHeap(b *testing.B, name string) {
	b.Helper()
	f, err := os.Create(name)
	if err == nil {
		err = pprof.WriteHeapProfile(f)
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

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
