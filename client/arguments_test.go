package client

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

const (
	firstID  = "01a1fddd-b7ba-7e51-8bf0-783efd4419a7"
	secondID = "01a1fddd-b7ba-7e51-8bf0-783efd4419a8"
)

func TestARequestCarriesItsDependenciesAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(time.Second))
		_, err := c.Submit(t.Context(), "lu", AfterAny(firstID, secondID), After(firstID), Retry(3, 1, 75), AtSite("b"))
		if err != nil {
			t.Fatal(err)
		}
		want := &droverv1.Request{
			Service: "lu", Site: "b", Retries: 3, RetryOn: []int32{1, 75}, After: []*droverv1.Dependency{
				{JobId: firstID}, // the stricter of the two
				{JobId: secondID, Condition: droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY},
			},
		}
		if len(w.A.Sent()) != 0 || len(w.B.Sent()) != 1 {
			t.Fatalf("%d submissions at a, %d at b", len(w.A.Sent()), len(w.B.Sent()))
		}
		for who, got := range map[string]*droverv1.Request{
			"server": w.B.Sent()[0].GetRequest(), "agent": w.Agent.Mapped[0].GetRequest(),
		} {
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("to the %s (-want +got):\n%s", who, diff)
			}
		}
	})
}

func TestAJobReportsItsDependenciesAndRetries(t *testing.T) {
	got := jobOf(&droverv1.Job{
		Awaits: []string{secondID}, Retried: 2, Request: &droverv1.Request{
			Site: "b", Retries: 3, RetryOn: []int32{1, 75}, After: []*droverv1.Dependency{
				{JobId: firstID}, {JobId: secondID, Condition: droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY},
			},
		},
	})
	if want := []Dependency{{Job: firstID}, {Job: secondID, Any: true}}; !slices.Equal(got.After, want) {
		t.Errorf("after %v, want %v", got.After, want)
	}
	if !slices.Equal(got.Awaits, []string{secondID}) || got.Retries != 3 || got.Retried != 2 ||
		!slices.Equal(got.RetryOn, []int{1, 75}) || got.OnlySite != "b" {
		t.Errorf("%+v", got)
	}
}

func TestInvalidDependenciesAndRetriesAreRefusedLocally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(time.Second))
		var many []string
		for i := range MostDependencies + 1 {
			many = append(many, firstID[:24]+strings.Repeat("0", 8)+string([]byte{
				'a' + byte(i%6), 'a' + byte(i/6%6), 'a' + byte(i/36%6), 'a' + byte(i/216),
			}))
		}
		for name, tc := range map[string]struct {
			arg    Arg
			reason problem.Reason
			field  string
		}{
			"no ID":                   {After(""), problem.BadValue, "request.after"},
			"a beginning":             {After(firstID[:8]), problem.BadValue, "request.after"},
			"upper case":              {AfterAny(strings.ToUpper(firstID)), problem.BadValue, "request.after"},
			"too many jobs":           {After(many...), problem.OutOfRange, "request.after"},
			"fewer than none":         {Retry(-1), problem.OutOfRange, "request.retries"},
			"too often":               {Retry(MostRetries + 1), problem.OutOfRange, "request.retries"},
			"after success":           {Retry(1, 0), problem.OutOfRange, "request.retry_on"},
			"after no code there is":  {Retry(1, 1, 256), problem.OutOfRange, "request.retry_on"},
			"codes without a retry":   {Retry(0, 1), problem.BadValue, "request.retry_on"},
			"a number that overflows": {Retry(1 << 33), problem.OutOfRange, "request.retries"},
		} {
			_, err := c.Submit(t.Context(), "lu", tc.arg)
			if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != tc.reason || e.Field != tc.field ||
				e.Accepted == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(w.Agent.Mapped) + len(w.A.Sent()); n != 0 {
			t.Errorf("%d calls", n)
		}
		if _, err := c.Submit(t.Context(), "lu", After(many[:MostDependencies]...),
			Retry(MostRetries, 1, 255)); err != nil {
			t.Errorf("as many as there may be: %v", err)
		}
	})
}
