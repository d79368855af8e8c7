package site

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

const fitServices = `
version: 1
services:
  - {name: fit, doc: Fits., command: [fit], model: {fixed: {width: 1, time: 1m}}}
  - {name: plot, doc: Plots., command: [plot], model: {fixed: {width: 1, time: 1m}}}
`

var missing = batch.Outcome{End: batch.EndStartFailed, NotExecutable: true, Reason: "command fit: no such file"}

// fits submits jobs of the service fit and returns the keys of their attempts.
func fits(t *testing.T, s *Site, ids ...batch.JobID) map[batch.JobID]batch.Key {
	t.Helper()
	keys := make(map[batch.JobID]batch.Key)
	for _, id := range ids {
		j := submit(t, s, 0, id, &Request{Service: "fit"})
		keys[id] = j.Key()
	}
	take(s, 0)
	return keys
}

func (s *Site) endAt(t *testing.T, now batch.Time, key batch.Key, how batch.Outcome) (Job, Effects) {
	t.Helper()
	j, err := s.Ended(now, key, how, nil)
	if err != nil {
		t.Fatal(err)
	}
	return j, take(s, now)
}

// The program of fit is missing: the site withdraws fit for 30 s, then lets one job try, withdraws it
// for 60 s, and offers it again after a job was launched.
func TestAServiceThatCannotBeExecutedIsWithdrawnForAWhile(t *testing.T) {
	s := newSite(t, fitServices, 4, Exhaustive)
	keys := fits(t, s, "a", "b")
	if err := s.MayLaunch(sec(1), keys["a"]); err != nil {
		t.Fatal(err)
	}
	j, fx := s.endAt(t, sec(1), keys["a"], missing)
	if j.State != Waiting || j.FailedAttempts != 1 {
		t.Fatalf("after a failed launch: %+v", j)
	}
	if len(fx.Plans) != 1 || fx.Plans[0].Job.EarliestStart != sec(31) {
		t.Fatalf("plans: %+v", fx.Plans)
	}
	keys["a"] = j.Key()
	want := []ServiceProblem{{Service: "fit", Reason: missing.Reason, Withdrawn: seconds(20)}}
	if d := cmp.Diff(want, s.ServiceProblems(sec(11))); d != "" {
		t.Error(d)
	}
	_, err := s.Quote(sec(11), Question{Request: &Request{Service: "fit"}}, idle("", 0))
	refused(t, err, problem.ServiceWithdrawn, "")
	_, err = s.Submit(sec(11), Submission{ID: "c", Request: &Request{Service: "fit"}}, idle("", 0))
	refused(t, err, problem.ServiceWithdrawn, "")
	if _, err = s.Quote(sec(11), Question{Request: &Request{Service: "plot"}}, idle("", 0)); err != nil {
		t.Errorf("another service: %v", err)
	}
	if err := s.MayLaunch(sec(30), keys["b"]); err == nil {
		t.Error("a withdrawn service may be launched")
	}
	if j, fx = s.endAt(t, sec(30), keys["b"], batch.Outcome{
		End: batch.EndNeverRan, HostFault: true,
	}); j.FailedAttempts != 0 ||
		fx.Plans[0].Job.EarliestStart != sec(31) {
		t.Errorf("a job that had to wait: %+v, %+v", j, fx.Plans)
	}
	keys["b"] = j.Key()

	if err := s.MayLaunch(sec(31), keys["b"]); err != nil {
		t.Errorf("the first job tries: %v", err)
	}
	if _, err := s.Starting(sec(31), keys["b"]); err != nil {
		t.Fatal(err)
	}
	if err := s.MayLaunch(sec(31), keys["a"]); err == nil {
		t.Error("a second job tries beside the first")
	}
	if j, fx = s.endAt(t, sec(31), keys["b"], missing); fx.Plans[0].Job.EarliestStart != sec(91) {
		t.Errorf("after the second failure: %+v", fx.Plans)
	}
	keys["b"] = j.Key()
	if err := s.MayLaunch(sec(91), keys["b"]); err != nil {
		t.Error(err)
	}
	if _, err := s.Starting(sec(91), keys["b"]); err != nil {
		t.Fatal(err)
	}
	// Its node has left: the job waits again, and another one may try.
	if err := s.Unlaunched(keys["b"]); err != nil {
		t.Fatal(err)
	}
	if err := s.MayLaunch(sec(91), keys["a"]); err != nil {
		t.Error(err)
	}
	if _, err := s.Running(sec(91), keys["a"], nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.MayLaunch(sec(91), keys["b"]); err != nil {
		t.Errorf("after a launch: %v", err)
	}
	if got := s.ServiceProblems(sec(91)); got != nil {
		t.Errorf("after a launch: %+v", got)
	}
}

func TestAJobWhoseOwnArgumentsCannotBeExecutedFails(t *testing.T) {
	s := newSite(t, fitServices, 4, Exhaustive)
	a := submit(t, s, 0, "a", &Request{Service: "fit", Retries: 5})
	j, _ := s.endAt(t, sec(1), a.Key(), batch.Outcome{End: batch.EndStartFailed, Reason: "argument list too long"})
	if j.State != Failed || s.ServiceProblems(sec(1)) != nil {
		t.Errorf("%+v, %+v", j, s.ServiceProblems(sec(1)))
	}
}

func TestAJobFailsAfterAllItsAttemptsWithoutItsProgram(t *testing.T) {
	s := newSite(t, fitServices, 4, Exhaustive)
	key := fits(t, s, "a")["a"]
	for i := range int64(DefaultAttempts) {
		j, _ := s.endAt(t, sec(3600*i), key, missing)
		if last := i+1 == DefaultAttempts; (j.State == Failed) != last {
			t.Fatalf("attempt %d: %+v", i+1, j)
		}
		key = j.Key()
	}
}

// Five jobs in a row fail at once, then a sixth, then one that runs for longer.
func TestAServiceWhoseJobsFailAtOnceIsExpectedLater(t *testing.T) {
	s := newSite(t, fitServices, 4, Exhaustive)
	ids := []batch.JobID{"a", "b", "c", "d", "e", "f", "g"}
	keys := fits(t, s, ids...)
	run := func(id batch.JobID, from, to batch.Time, end batch.End) {
		t.Helper()
		if _, err := s.Running(from, keys[id], nil, nil); err != nil {
			t.Fatal(err)
		}
		s.endAt(t, to, keys[id], batch.Outcome{End: end, ExitCode: 1, Reason: "exit status 1"})
	}
	wait := func(now batch.Time) batch.Duration {
		t.Helper()
		q, err := s.Quote(now, Question{Request: &Request{Service: "fit"}}, idle("", 0))
		if err != nil {
			t.Fatal(err)
		}
		return q.Wait
	}
	for i, id := range ids[:4] {
		run(id, sec(int64(i)), sec(int64(i))+1, batch.EndFailed)
	}
	if got := wait(sec(4)); got != 0 {
		t.Errorf("after four failures: %v", got)
	}
	run("e", sec(4), sec(4)+1, batch.EndFailed)
	if got := wait(sec(5)); got != seconds(30) {
		t.Errorf("after five failures: %v", got)
	}
	want := []ServiceProblem{{
		Service: "fit", Reason: "5 jobs in a row failed at once: exit status 1", Delay: seconds(30),
	}}
	if d := cmp.Diff(want, s.ServiceProblems(sec(5))); d != "" {
		t.Error(d)
	}
	run("f", sec(5), sec(5)+1, batch.EndFailed)
	if got := wait(sec(6)); got != seconds(60) {
		t.Errorf("after six failures: %v", got)
	}
	if got := wait(sec(606)); got != 0 {
		t.Errorf("ten minutes later: %v", got)
	}
	run("g", sec(6), sec(8), batch.EndFailed)
	if got := wait(sec(8)); got != 0 {
		t.Errorf("after a job that ran for two seconds: %v", got)
	}
}
