package site

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestWhatWasMeasuredIsDurableAndOfTheNextAttemptToo(t *testing.T) {
	s, first := saving(t)
	want := Measured{CPU: batch.One / 4, Memory: 5000}
	s.Measured(first, want)
	fx := take(s, sec(20))
	if len(fx.Writes) != 1 || fx.Writes[0].Record.Measured == nil || *fx.Writes[0].Record.Measured != want {
		t.Fatalf("%+v", fx.Writes)
	}
	again := named(t, "lyon") // the server is killed here
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, job(t, again, first.Job).Measured); diff != "" {
		t.Error(diff)
	}
	s.Measured(first, want)
	if fx := take(s, sec(20)); len(fx.Writes) != 0 {
		t.Errorf("what is known was written: %+v", fx.Writes)
	}
	fx = stops(t, s, 40, first)
	if fx.Plans[0].Job.CPU != 0 {
		t.Errorf("the next attempt declares %+v", fx.Plans[0].Job)
	}
	if diff := cmp.Diff(&want, job(t, s, first.Job).Measured); diff != "" {
		t.Error(diff)
	}
	s.Measured(first, Measured{CPU: 1}) // of the attempt that is over
	second := fx.Plans[0].Key
	for _, bad := range []Measured{{}, {CPU: batch.One + 1}, {CPU: 1, Memory: -1}} {
		s.Measured(second, bad)
	}
	if fx := take(s, sec(41)); len(fx.Writes) != 0 {
		t.Errorf("%+v", fx.Writes)
	}
	begins(t, s, 50, second)
	if _, err := s.Ended(sec(60), second, batch.Outcome{End: batch.EndDone}, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, job(t, s, first.Job).Measured); diff != "" {
		t.Error(diff)
	}
	if err := s.Forget(first.Job); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, sec(70)); len(fx.Writes) != 1 || fx.Writes[0].Record.Measured != nil {
		t.Errorf("a tombstone: %+v", fx.Writes)
	}
}
