package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// shift adds by to all times in the store of a stopped server. Its clock then seems to
// have been set back by that much.
func (p *processSite) shift(by time.Duration, ids ...string) {
	p.t.Helper()
	st, err := store.Open(store.Config{Path: filepath.Join(p.dir, "drover.db"), Site: p.name})
	if err != nil {
		p.t.Fatal(err)
	}
	var records []site.Record
	if err := st.Load(func(_ string, hot []byte) error {
		var r site.Record
		err := json.Unmarshal(hot, &r)
		records = append(records, r)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
	var b store.Batch
	for _, r := range records {
		for _, at := range []*batch.Time{&r.Submitted, &r.Started, &r.Ended} {
			if *at != 0 {
				*at = at.Add(micros(by))
			}
		}
		hot, err := json.Marshal(&r)
		if err != nil {
			p.t.Fatal(err)
		}
		b.Put(string(r.ID), hot)
	}
	if err := st.Commit(&b); err != nil {
		p.t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		p.t.Fatal(err)
	}
	at := regexp.MustCompile(`"at":"([^"]*)"`)
	for _, id := range ids {
		p.edit(id, func(text []byte) []byte {
			return at.ReplaceAllFunc(text, func(found []byte) []byte {
				was, err := time.Parse(time.RFC3339Nano, string(at.FindSubmatch(found)[1]))
				if err != nil {
					p.t.Fatal(err)
				}
				return []byte(`"at":"` + was.Add(by).Format(time.RFC3339Nano) + `"`)
			})
		})
	}
}

// Setting the clock while the server is down neither extends nor shortens a walltime.
func TestClockJumpsDoNotChangeWalltimes(t *testing.T) {
	for name, by := range map[string]time.Duration{"back": time.Hour, "forward": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			p := newProcessSite(t, "lyon", "policy: {name: fcfs}")
			p.run()
			id := p.submit(newID(t), g.request("once", 4, true, 0)).GetId() // 80s
			p.ready(id)
			next := p.submit(newID(t), g.request("once", 4, false, 0)).GetId()
			probe := &droverv1.EstimateRequest{Request: g.request("once", 4, false, 0)}
			said, err := p.client.Estimate(within(t), probe)
			if err != nil {
				t.Fatal(err)
			}
			p.stop()
			p.killSupervisors() // its memory has the old times
			p.shift(by, id)
			p.run()
			says, err := p.client.Estimate(within(t), probe)
			if err != nil {
				t.Fatal(err)
			}
			a, b := said.GetQuote().GetWait().AsDuration(), says.GetQuote().GetWait().AsDuration()
			if b >= a || b < a-50*time.Second {
				t.Errorf("the queue ended in %v before the clock change and in %v after it", a, b)
			}
			j := p.job(id)
			if j.GetState() != running || j.GetStartedAt().AsTime().After(time.Now()) {
				t.Errorf("job after the restart: %v", j)
			}
			g.open()
			untilJob(t, p.client, id, final)
			p.until(next, done)
			if j := p.job(id); j.GetEndedAt().AsTime().Before(j.GetStartedAt().AsTime()) {
				t.Errorf("the job ended before it started: %v", j)
			}
			if lines, _, _ := g.lines(t); lines[id] != 1 || lines[next] != 1 {
				t.Errorf("runs: %v", lines)
			}
		})
	}
}

// The host's clock was set ahead by 20 days while no server ran: a record that would have expired in
// the meantime stays, and one that was due before goes.
func TestRecordsDoNotExpireByAJumpOfTheClock(t *testing.T) {
	cfg := configured(t, "")
	now := time.Now()
	due := map[string]time.Time{"jumped": now.Add(-24 * time.Hour), "due": now.Add(-21 * 24 * time.Hour)}
	st, err := store.Open(store.Config{Path: filepath.Join(cfg.DataDir, "drover.db"), Site: cfg.Name})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	for id, until := range due {
		b.Bury(id, []byte("{}"), int64(instant(until)))
	}
	b.SetMeta(metaSeen, fmt.Append(nil, int64(instant(now.Add(-20*24*time.Hour)))))
	if err := errors.Join(st.Commit(&b), st.Close()); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg)
	s.expireTombstones()
	for id, kept := range map[string]bool{"jumped": true, "due": false} {
		if _, buried, err := s.store.Tombstone(id); err != nil || buried != kept {
			t.Errorf("%s: kept %t, %v", id, buried, err)
		}
	}
	// An ID as old as the kept records is still recognized.
	old := uuidAt(now.Add(-48 * 24 * time.Hour))
	if err := s.checkAge(old); err != nil {
		t.Errorf("an ID made 48 days ago: %v", err)
	}
	if err := s.checkAge(uuidAt(now.Add(-51 * 24 * time.Hour))); err == nil {
		t.Error("an ID made 51 days ago is accepted")
	}
}

// uuidAt returns a job ID that was made at an instant.
func uuidAt(at time.Time) batch.JobID {
	hex := fmt.Sprintf("%012x", at.UnixMilli())
	return batch.JobID(hex[:8] + "-" + hex[8:] + "-7000-8000-000000000000")
}

func TestTheSeenTimeNeverRunsAheadOfTheServersClock(t *testing.T) {
	cfg := configured(t, "")
	st, err := store.Open(store.Config{Path: filepath.Join(cfg.DataDir, "drover.db"), Site: cfg.Name})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	b.SetMeta(metaSeen, fmt.Append(nil, int64(instant(time.Now().Add(time.Hour))))) // the clock was ahead
	if err := errors.Join(st.Commit(&b), st.Close()); err != nil {
		t.Fatal(err)
	}
	if s := start(t, cfg); s.clock.lag != 0 {
		t.Errorf("seen is %v behind", s.clock.lag)
	}
}

// The server started with its host's clock an hour and a half behind, which was then corrected.
func TestAServerThatStartedBehindAcceptsIDsAfterTheCorrection(t *testing.T) {
	host := time.Now()
	now := instant(host.Add(-90 * time.Minute))
	var c clock
	if err := c.checkAge(now, host, uuidAt(host)); err != nil {
		t.Errorf("after the correction: %v", err)
	}
	if err := c.checkAge(now, host.Add(-90*time.Minute), uuidAt(host)); err == nil {
		t.Error("an ID made 90 minutes ahead of all clocks is accepted")
	}
}

func TestStepsOfTheHostsClockAreSeenOnce(t *testing.T) {
	start := time.Now()
	var c clock
	for i, tt := range []struct{ ahead, step, offset time.Duration }{
		{0, 0, 0},
		{time.Second, 0, 0},
		{time.Hour, time.Hour, time.Hour},
		{time.Hour + time.Second, 0, time.Hour + time.Second},
		{-time.Hour, -2 * time.Hour, -time.Hour},
		{0, time.Hour, 0},
	} {
		now := instant(start).Add(batch.Duration(i) * batch.Minute)
		host := time.UnixMicro(int64(now)).Add(tt.ahead)
		if got := offset(now, host); got != tt.offset {
			t.Errorf("%v ahead: offset %v", tt.ahead, got)
		}
		if got := c.step(now, host); got != tt.step {
			t.Errorf("%v ahead: step %v, want %v", tt.ahead, got, tt.step)
		}
	}
}
