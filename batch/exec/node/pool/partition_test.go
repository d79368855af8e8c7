package pool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
)

// The following holds for any behavior of the network, the nodes and the server. No member of
// an attempt runs after the end of the attempt was reported. No member runs twice. No member
// is launched on a node that was reported down. The end of an attempt is the end of one of
// its members. After all faults, the last shares are in force and every attempt ends.
func TestNothingRunsTwiceUnderPartitionsAndRestarts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan().Draw(rt, "plan")
		if wrong := play(t, p); len(wrong) > 0 {
			text, _ := json.Marshal(p)
			rt.Fatalf("%s\nas testdata/partitions/NAME.json:\n%s", strings.Join(wrong, "\n"), text)
		}
	})
}

// Each plan has found the planted or real fault that its file is named after.
func TestRecordedFaultPlansPass(t *testing.T) {
	names, err := filepath.Glob("testdata/partitions/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var p plan
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range play(t, p) {
				t.Error(wrong)
			}
		})
	}
}

// play executes a plan to its end and returns the violations.
func play(t *testing.T, p plan) (wrong []string) {
	synctest.Test(t, func(*testing.T) {
		s := newSite(p)
		w := s.w
		err := s.open()
		for i := 0; err == nil && i < len(p.Steps); i++ {
			err = s.do(p.Steps[i])
		}
		if err != nil {
			wrong = []string{err.Error()}
			return
		}
		s.undo.Wait()
		w.mu.Lock()
		for _, m := range w.machines {
			m.heal()
		}
		w.mu.Unlock()
		settled(3 * worldLease)
		w.checkShares()
		w.checkFailed()
		for i := 0; i < 20 && !s.allOver(); i++ {
			w.mu.Lock()
			for _, m := range w.machines {
				for _, b := range m.bodies {
					b.end(exec.Exit{})
				}
			}
			w.mu.Unlock()
			settled(worldLease / 2)
		}
		w.mu.Lock()
		for _, a := range s.order {
			if !a.over {
				w.complain("%v has not ended, %d of %d members run", a.key, w.running(a.key), a.ranks)
			}
		}
		w.mu.Unlock()
		s.close()
		w.flights.Wait()
		sleep(2 * time.Minute) // leases
		wrong = w.wrong
	})
	return wrong
}

func (s *site) allOver() bool {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, a := range s.order {
		if !a.over {
			return false
		}
	}
	return true
}

// started checks the start of a member. The caller holds mu.
func (w *world) started(m *machine, b *body) {
	a := w.attempts[b.id.Key]
	b.obeys = a.obeys
	if a.over {
		w.complain("%v starts at n%d after its end was reported", b.id, m.index)
	}
	for _, other := range w.machines {
		for id, was := range other.bodies {
			switch {
			case was == b:
			case id == b.id:
				w.complain("%v begins at n%d, and has run at n%d", id, m.index, other.index)
			case id.Key.Job == b.id.Key.Job && id.Key != b.id.Key && !was.gone && !other.immortal:
				w.complain("%v begins at n%d while %v runs at n%d", b.id, m.index, id, other.index)
			}
		}
	}
}

// isUp checks a node that joins. Members that this server has given up must have ended, even
// on hosts that do not enforce their leases. The caller holds mu.
func (w *world) isUp(m *machine, life int) {
	for id, b := range m.bodies {
		if a := w.attempts[id.Key]; a.over && a.life == life && !b.gone {
			w.complain("n%d is up while %v, whose end was reported, runs there", m.index, id)
		}
	}
}

// launches checks the launch of a member by the pool.
func (w *world) launches(m *machine, id ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.reported[m.index] {
		w.complain("%v is launched at n%d, which has left", id, m.index)
	}
}

// ended checks the end of an attempt. The caller holds mu.
func (w *world) ended(a *modelAttempt, exit exec.Exit, err error) {
	if n := w.running(a.key); n > 0 {
		w.complain("%v is reported as ended (%+v, %v) while %d of %d members run", a.key, exit, err, n, a.ranks)
	}
	var all []exec.Exit
	disturbed := false
	for _, m := range w.machines {
		disturbed = disturbed || m.disturbed
		for id, b := range m.bodies {
			if id.Key == a.key {
				all = append(all, b.exit)
			}
		}
	}
	fails, makes, same := false, false, false
	for _, one := range all {
		fails = fails || failed(one)
		makes = makes || one.Code == batch.CheckpointStatus
		same = same || !one.Lost && one.Code == exit.Code && one.Signal == exit.Signal
	}
	ok := false
	switch {
	case err != nil:
		ok = len(all) == 0
	case exit.Lost:
		ok = disturbed || len(all) < a.ranks
	case !failed(exit):
		ok = !fails && len(all) == a.ranks && makes == (exit.Code == batch.CheckpointStatus)
	default:
		ok = same
	}
	if !ok {
		w.complain("%v is reported as ended with %+v, %v; its %d members ended with %+v", a.key, exit, err, a.ranks,
			all)
	}
}

// checkShares compares the shares in force with the requested ones.
func (w *world) checkShares() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		for id, b := range m.bodies {
			if a := w.attempts[id.Key]; !b.gone && !a.over && b.share != a.share {
				w.complain("%v has share %s at n%d, %s was asked for", id, fmt.Sprint(b.share), m.index,
					fmt.Sprint(a.share))
			}
		}
	}
}

// checkFailed checks that the other members ended after a member failed.
func (w *world) checkFailed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		for id, b := range m.bodies {
			if a := w.attempts[id.Key]; b.gone && failed(b.exit) && !a.over {
				w.complain("%v has failed (%+v), and %d others run", id, b.exit, w.running(id.Key))
			}
		}
	}
}
