package server

import (
	"encoding/json"
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
