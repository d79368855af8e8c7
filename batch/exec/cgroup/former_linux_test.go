package cgroup

import (
	"errors"
	"slices"
	"testing"
)

func TestGroupsOfAnEarlierLifeInAnotherGroupAreFound(t *testing.T) {
	f, proc := newFake(t, allV2...)
	first := detectFake(t, f, proc, Config{Parent: "/"})
	newTestGroup(t, first, "job")
	if err := f.mkdir("/v2/session"); err != nil {
		t.Fatal(err)
	}
	former := append(first.Places(), "/v2/drover-other", "/etc/drover-a1", "/v2/gone/drover-a1", "/v2/session/../drover-a1")
	next := detectFake(t, f, proc, Config{Parent: "/session", Former: former})
	if got := next.Places(); !slices.Equal(got, []string{"/v2/session/drover-a1", "/v2/drover-a1"}) {
		t.Errorf("places: %v", got)
	}
	if names, err := next.List(); err != nil || !slices.Equal(names, []string{"job"}) {
		t.Errorf("list: %v, %v", names, err)
	}
	g, err := next.Find("job")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Procs(); !slices.Equal(got, []string{"/v2/drover-a1/g-job/cgroup.procs"}) {
		t.Errorf("%v", got)
	}
	if _, err := g.SetShare(Processor / 2); err != nil || f.files["/v2/drover-a1/g-job/cpu.max"] != "50000 100000" {
		t.Errorf("%v, cpu.max is %q", err, f.files["/v2/drover-a1/g-job/cpu.max"])
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Find("job"); !errors.Is(err, ErrNotFound) {
		t.Errorf("once removed: %v", err)
	}
	if got := newTestGroup(t, next, "job").Procs(); !slices.Equal(got, []string{"/v2/session/drover-a1/g-job/cgroup.procs"}) {
		t.Errorf("a new one: %v", got)
	}
	if g, err := next.Find("job"); err != nil || g.Remove() != nil {
		t.Error(err)
	}
}
