package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// maybeDone reports whether an error says that the request may have been carried out.
func maybeDone(err error) bool {
	e, ok := errors.AsType[*external.UnreachableError](err)
	return ok && e.Sent
}

func clock(text string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-22T"+text+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

const id = "0190f2d4-1111-7abc-8def-000000000001"

// The first job's name and comment have newlines and a bar.
func TestParseQueueAcceptsAnyNameAndComment(t *testing.T) {
	rows, err := parseQueue(read(t, "squeue-22.05.txt"), "~m~")
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{
			id: "1000026", state: "PENDING", reason: "Resources", user: "root", partition: "main", processors: 4,
			nodes: 4, limit: 5 * batch.Minute,
			submitted: clock("00:22:48"), start: clock("00:32:48"), end: clock("00:37:48"), priority: 4294901746,
			name: "na\nme", comment: "a\nb|c", tasks: 1,
		},
		{
			id: "1000027_[1-5%2]", state: "PENDING", reason: "Priority", user: "root", partition: "main", processors: 1,
			nodes: 1, limit: 25 * batch.Hour,
			submitted: clock("00:22:48"), start: clock("01:37:48").AddDate(0, 0, 1),
			end:      clock("02:37:48").AddDate(0, 0, 2),
			priority: 4294901745, name: "t.sh", comment: "(null)", tasks: 5,
		},
		{
			id: "1000028", state: "PENDING", reason: "JobHeldUser", user: "root", partition: "main", processors: 1,
			nodes: 1, limit: batch.Hour,
			submitted: clock("00:22:48"), name: "t.sh", comment: "(null)", tasks: 1,
		},
		{
			id: "1000025", state: "RUNNING", reason: "None", user: "root", partition: "main", processors: 2, nodes: 2,
			limit: 10 * batch.Minute,
			used:  5 * batch.Second, submitted: clock("00:22:48"), start: clock("00:22:48"), end: clock("00:32:48"),
			priority: 4294901747, nodeList: "c1n[1-2]",
			name: "drover-" + id + "-1-1", comment: "drover:1:siteA:" + id + ":1:1:owner=bob", tasks: 1,
		},
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	own := batch.Key{Job: id, Epoch: 1, Attempt: 1}
	if k, ok := external.Identify("siteA", rows[3].name, rows[3].comment); !ok || k != own {
		t.Errorf("identified as %v, %v", k, ok)
	}
	if k, ok := external.Identify("siteB", rows[3].name, rows[3].comment); ok {
		t.Errorf("another site identifies it as %v", k)
	}
	if k, ok := external.Identify("siteB", rows[3].name, "(null)"); !ok || k != own {
		t.Errorf("by its name: %v, %v", k, ok)
	}
}

func TestParseDetailsReadsExitCodesAndSignals(t *testing.T) {
	got, err := parseDetails(read(t, "squeue-ended-22.05.txt"), "~m~")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range got {
		over := " "
		if e.Over() {
			over = " over "
		}
		lines = append(lines, strings.Join([]string{
			e.ID, e.State, e.Reason, string(rune('0' + e.Code)), e.Signal, strings.Join(e.Nodes, "+"),
		}, " ")+over+e.End.Sub(e.Start).String())
	}
	want := []string{
		"1000005 CANCELLED JobHeldUser 0   over 0s",
		"1000009 COMPLETED None 0  c1n4 over 0s",
		"1000007 FAILED NonZeroExitCode 7  c1n2 over 0s",
		"1000008 FAILED JobLaunchFailure 0 SIGKILL c1n3 over 0s",
		"1000011 FAILED JobLaunchFailure 0 " + got[4].Signal + " c1n2 over 0s",
		"1000012 NODE_FAIL NodeDown 0 SIGTERM c1n3 over 0s",
		"1000025 RUNNING None 0  c1n1+c1n2 10m0s",
		"1000006 TIMEOUT TimeLimit 0 SIGTERM c1n1 over 1m2s",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[1].Comment != "a|b c=d" {
		t.Errorf("comment %q", got[1].Comment)
	}
}

func TestParseSettingsPartitionsAndNodes(t *testing.T) {
	s, err := parseSettings(read(t, "config-22.05.txt"))
	want := settings{
		version: version{22, 5}, cluster: "c1", accounting: "accounting_storage/none", jobComp: "jobcomp/filetxt",
		jobCompFile: "/srv/c1/jobcomp.txt",
		scheduler:   "sched/backfill", selector: "select/cons_tres", minJobAge: 24 * batch.Hour, maxJobs: 20000,
		partLimits: "ALL", preempt: "OFF",
		proctrack: "proctrack/linuxproc",
	}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(settings{}, version{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	parts, err := parsePartitions(read(t, "partition-22.05.txt"))
	if diff := cmp.Diff([]partition{{
		name: "main", up: true, isDefault: true, maxTime: batch.Forever, processors: 4, nodes: 4,
	}}, parts, cmp.AllowUnexported(partition{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	m, err := parseNodes(read(t, "sinfo-22.05.txt"), "~m~", "")
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Platform(); err != nil || p.Width() != 4 || p.Nodes[3].Name != "c1n4" || p.Nodes[0].Memory != 1<<30 {
		t.Errorf("%v, %+v", err, p)
	}
	if s.version.before(oldest) || !(version{20, 2}).before(oldest) {
		t.Error("versions are not in order")
	}
}

func TestWidestIsBoundedByThePartition(t *testing.T) {
	nodes := []external.Node{{Name: "a", Processors: 4}, {Name: "b", Processors: 16}, {Name: "c", Processors: 8}}
	for limits, want := range map[string]int32{
		"MaxNodes=UNLIMITED MaxCPUsPerNode=UNLIMITED": 28,
		"MaxNodes=2 MaxCPUsPerNode=UNLIMITED":         24, // the two largest
		"MaxNodes=9 MaxCPUsPerNode=6":                 16,
		"MaxNodes=1 MaxCPUsPerNode=10":                10,
		"MaxNodes=2":                                  24, // without the key, as in older versions
	} {
		parts, err := parsePartitions("PartitionName=p State=UP MaxTime=UNLIMITED TotalCPUs=28 TotalNodes=3 " + limits +
			"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := parts[0].widest(nodes); got != want {
			t.Errorf("%s: %d, want %d", limits, got, want)
		}
	}
}

// One job's name has a newline, so neither half is a record.
func TestReadCompletedFindsJobsByName(t *testing.T) {
	got, err := readCompleted(filepath.Join("testdata", "jobcomp-22.05.txt"),
		map[string]bool{"seven": true, "sig": true, "to": true, "me": true, "nobody": true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got["seven"].Code != 7 || got["sig"].Signal != "SIGKILL" || got["to"].State != "TIMEOUT" {
		t.Errorf("%+v", got)
	}
}

func TestParseAccounted(t *testing.T) {
	got, err := parseAccounted(read(t, "sacct-documented.txt")+"half a line\n", "~m~")
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, e := range got {
		states = append(states, e.State)
	}
	if want := []string{"COMPLETED", "OUT_OF_MEMORY", "CANCELLED", "TIMEOUT", "RUNNING"}; !slices.Equal(states, want) ||
		got[2].Nodes != nil || got[4].Over() {
		t.Errorf("%+v", got)
	}
}

func TestParseSpansCountsTasksAndMinutes(t *testing.T) {
	for text, want := range map[string]batch.Duration{
		"0:01": batch.Second, "5:00": 5 * batch.Minute, "1:00:00": batch.Hour, "1-01:00:00": 25 * batch.Hour,
		"UNLIMITED": batch.Forever,
		"INVALID":   0, "x": -1, "1-2": -1, "1:2:3:4": -1, "-1:00": -1, "5": -1,
	} {
		if got, ok := parseSpan(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for text, want := range map[string]int32{
		"7": 7, "2K": 2048, "1.5K": 1536, "1M": 1 << 20, "": -1, "-1": -1, "K": -1, "9999999999": -1,
	} {
		if got, ok := parseCount(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for text, want := range map[string]int{
		"12": 1, "12_3": 1, "12_[4-9]": 6, "12_[1-5%2]": 5, "12_[1,3,7-9]": 5, "12_[0-10:5]": 3, "12+1": 1,
		"12_[1-999999999]": maxTasks, "1_[": 1,
	} {
		if got := parseTasks(text); got != want {
			t.Errorf("%q is %d jobs, want %d", text, got, want)
		}
	}
	for d, want := range map[batch.Duration]int64{1: 1, batch.Minute: 1, batch.Minute + 1: 2, 90 * batch.Second: 2} {
		if got := minutes(d); got != want {
			t.Errorf("%v is %d minutes, want %d", d, got, want)
		}
	}
}

// The messages are those of slurm_errno.c as the programs print them.
func TestFailureDistinguishesSilenceFromRefusal(t *testing.T) {
	for notes, want := range map[string]string{
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect " +
			"failure)": "unreachable",
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv " +
			"operation": "maybe done",
		"squeue: error: fetch_config: DNS SRV lookup failed\n" +
			"squeue: fatal: Could not establish a configuration source": "unreachable",
		"sbatch: error: invalid partition specified: nope\n" +
			"sbatch: error: Batch job submission failed: Invalid partition name specified": "refused",
		"sbatch: error: AssocMaxSubmitJobLimit\n" +
			"sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, " +
			"user's size and/or time limits)": "again",
		"slurm_load_jobs error: Zero Bytes were transmitted or received":                       "maybe done",
		"sbatch: error: Batch job submission failed: More processors requested than permitted": "refused",
		"": "refused",
	} {
		err := failure("sbatch", 1, notes)
		got := "unreachable"
		if maybeDone(err) {
			got = "maybe done"
		} else if r, ok := err.(*external.RefusedError); ok { //nolint:errorlint // it is not wrapped
			if got = "refused"; r.Again {
				got = "again"
			}
		}
		if got != want {
			t.Errorf("%q is %s, want %s", notes, got, want)
		}
	}
	if got := reason("sbatch: error: one\nsbatch: error: Batch job submission failed: two\n"); got !=
		"Batch job submission failed: two" {
		t.Errorf("reason %q", got)
	}
}

func TestAnOwnersNameCannotChangeOtherFieldsOfTheComment(t *testing.T) {
	k := batch.Key{Job: id, Epoch: 2, Attempt: 3}
	text := external.Comment("a", k, "eve:1 --wrap=x\n\"'"+strings.Repeat("x", 100))
	if got, ok := external.Identify("a", "", text); !ok || got != k || strings.ContainsAny(text, " \n'\"") ||
		len(text) > 200 {
		t.Errorf("%q is %v, %v", text, got, ok)
	}
	if got, ok := external.Identify("a", external.Name(k), ""); !ok || got != k {
		t.Errorf("name %q is %v, %v", external.Name(k), got, ok)
	}
}

func TestParseSubmittedFindsTheJobID(t *testing.T) {
	for out, want := range map[string]string{
		"17\n": "17", "17;cluster\n": "17", "welcome\n18\n": "18", "": "", "ok": "", "0": "",
	} {
		got, err := parseSubmitted(out)
		if got != want || (want == "") != maybeDone(err) {
			t.Errorf("%q: %q, %v", out, got, err)
		}
	}
}

func TestRowsBecomeJobs(t *testing.T) {
	for name, c := range map[string]struct {
		r    row
		want external.Job
	}{
		"queued": {row{state: "PENDING", reason: "Priority"}, external.Job{Phase: batch.PhaseQueued}},
		"waiting for another job": {row{state: "PENDING", reason: "Dependency"}, external.Job{
			Phase: batch.PhaseQueued, Blocked: true,
		}},
		"held by its user": {
			row{state: "PENDING", reason: "JobHeldUser"}, external.Job{Phase: batch.PhaseHeld},
		},
		"held by an administrator": {row{state: "PENDING", reason: "JobHeldAdmin"}, external.Job{
			Phase: batch.PhaseHeld, AdminHold: true,
		}},
		"requeued and held": {row{state: "REQUEUE_HOLD"}, external.Job{Phase: batch.PhaseHeld}},
		"configuring":       {row{state: "CONFIGURING"}, external.Job{Phase: batch.PhaseStarting}},
		"suspended":         {row{state: "SUSPENDED"}, external.Job{Phase: batch.PhasePaused}},
		"completing":        {row{state: "COMPLETING"}, external.Job{Phase: batch.PhaseRunning}},
		"running, of another user": {
			row{state: "RUNNING", nodeList: "n[1-2]"}, external.Job{Phase: batch.PhaseRunning},
		},
		"running, of Drover": {
			row{state: "RUNNING", nodeList: "n[1-2]", name: "drover-x-1-1"},
			external.Job{Phase: batch.PhaseRunning, Nodes: []string{"n1", "n2"}, Name: "drover-x-1-1"},
		},
	} {
		if diff := cmp.Diff(c.want, c.r.job()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestStatesBecomeCauses(t *testing.T) {
	for state, want := range map[string]external.Cause{
		"PENDING": 0, "COMPLETING": 0, "SPECIAL_EXIT": 0, "COMPLETED": external.Completed, "FAILED": external.Failed,
		"TIMEOUT":  external.TimedOut,
		"DEADLINE": external.Deadline, "OUT_OF_MEMORY": external.OutOfMemory, "CANCELLED": external.Cancelled,
		"NODE_FAIL": external.NodeFailed,
		"BOOT_FAIL": external.NodeFailed, "PREEMPTED": external.Preempted, "REVOKED": external.Revoked,
		"NEW_IN_A_LATER_VERSION": external.Failed,
	} {
		if got := causeOf(state); got != want {
			t.Errorf("%s is %d, want %d", state, got, want)
		}
	}
}

func TestExpandReturnsTheNodesOfAList(t *testing.T) {
	for list, want := range map[string]string{
		"":                   "",
		"n1":                 "n1",
		"c1n[1-2]":           "c1n1 c1n2",
		"a[08-10,12],b,c[1]": "a08 a09 a10 a12 b c1",
		"r[1-2]n[1-2]":       "r1n1 r1n2 r2n1 r2n2",
		"a[1-99999]":         "a[1-99999]",
		"a[x]":               "a[x]",
		"a[1":                "a[1",
	} {
		if got := expand(list); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q is %q", list, got)
		}
	}
}
