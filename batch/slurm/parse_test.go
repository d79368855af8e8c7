package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func clock(text string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-22T"+text+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

const id = "0190f2d4-1111-7abc-8def-000000000001"

// The second job's name and comment have newlines and a bar.
func TestAQueueIsReadWhateverPeopleCallTheirJobs(t *testing.T) {
	rows, err := parseQueue(read(t, "squeue-22.05.txt"), "~m~")
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{
			ID: "1000026", State: "PENDING", Reason: "Resources", User: "root", Partition: "main", CPUs: 4, Nodes: 4, Limit: 5 * batch.Minute,
			Submitted: clock("00:22:48"), Start: clock("00:32:48"), End: clock("00:37:48"), Priority: 4294901746, Name: "na\nme", Comment: "a\nb|c", Tasks: 1,
		},
		{
			ID: "1000027_[1-5%2]", State: "PENDING", Reason: "Priority", User: "root", Partition: "main", CPUs: 1, Nodes: 1, Limit: 25 * batch.Hour,
			Submitted: clock("00:22:48"), Start: clock("01:37:48").AddDate(0, 0, 1), End: clock("02:37:48").AddDate(0, 0, 2),
			Priority: 4294901745, Name: "t.sh", Comment: "(null)", Tasks: 5,
		},
		{
			ID: "1000028", State: "PENDING", Reason: "JobHeldUser", User: "root", Partition: "main", CPUs: 1, Nodes: 1, Limit: batch.Hour,
			Submitted: clock("00:22:48"), Name: "t.sh", Comment: "(null)", Tasks: 1,
		},
		{
			ID: "1000025", State: "RUNNING", Reason: "None", User: "root", Partition: "main", CPUs: 2, Nodes: 2, Limit: 10 * batch.Minute,
			Used: 5 * batch.Second, Submitted: clock("00:22:48"), Start: clock("00:22:48"), End: clock("00:32:48"), Priority: 4294901747, NodeList: "c1n[1-2]",
			Name: "drover-" + id + "-1-1", Comment: "drover:1:siteA:" + id + ":1:1:owner=bob", Tasks: 1,
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	own := batch.Key{Job: id, Epoch: 1, Attempt: 1}
	if k, ok := identify("siteA", rows[3].Name, rows[3].Comment); !ok || k != own {
		t.Errorf("identified as %v, %v", k, ok)
	}
	if k, ok := identify("siteB", rows[3].Name, rows[3].Comment); ok {
		t.Errorf("another site takes it for its own %v", k)
	}
	if k, ok := identify("siteB", rows[3].Name, "(null)"); !ok || k != own {
		t.Errorf("by its name: %v, %v", k, ok)
	}
}

func TestEndsAreReadWithTheirExitCodesAndSignals(t *testing.T) {
	got, err := parseEnded(read(t, "squeue-ended-22.05.txt"), "~m~")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range got {
		over := " "
		if e.Over() {
			over = " over "
		}
		lines = append(lines, strings.Join([]string{e.ID, e.State, e.Reason, string(rune('0' + e.Code)), e.Signal, e.NodeList}, " ")+over+e.End.Sub(e.Start).String())
	}
	want := []string{
		"1000005 CANCELLED JobHeldUser 0   over 0s",
		"1000009 COMPLETED None 0  c1n4 over 0s",
		"1000007 FAILED NonZeroExitCode 7  c1n2 over 0s",
		"1000008 FAILED JobLaunchFailure 0 SIGKILL c1n3 over 0s",
		"1000011 FAILED JobLaunchFailure 0 " + got[4].Signal + " c1n2 over 0s",
		"1000012 NODE_FAIL NodeDown 0 SIGTERM c1n3 over 0s",
		"1000025 RUNNING None 0  c1n[1-2] 10m0s",
		"1000006 TIMEOUT TimeLimit 0 SIGTERM c1n1 over 1m2s",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[1].Comment != "a|b c=d" {
		t.Errorf("comment %q", got[1].Comment)
	}
}

func TestTheClusterIsReadAsItDescribesItself(t *testing.T) {
	s, err := parseSettings(read(t, "config-22.05.txt"))
	want := Settings{
		Version: Version{22, 5}, Cluster: "c1", Accounting: "accounting_storage/none", JobComp: "jobcomp/filetxt", JobCompLoc: "/srv/c1/jobcomp.txt",
		Scheduler: "sched/backfill", Select: "select/cons_tres", MinJobAge: 24 * batch.Hour, MaxJobs: 20000, PartLimits: "ALL", Preempt: "OFF",
		Proctrack: "proctrack/linuxproc",
	}
	if diff := cmp.Diff(want, s); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	parts, err := parsePartitions(read(t, "partition-22.05.txt"))
	if diff := cmp.Diff([]Partition{{Name: "main", Up: true, Default: true, MaxTime: batch.Forever, CPUs: 4, Nodes: 4}}, parts); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	m, err := parseCluster(read(t, "sinfo-22.05.txt"), "~m~", "")
	if err != nil {
		t.Fatal(err)
	}
	if p := platform(m.nodes); err != nil || p.Width() != 4 || p.Nodes[3].Name != "c1n4" || p.Nodes[0].Memory != 1<<30 {
		t.Errorf("%v, %+v", err, p)
	}
	if s.Version.Before(Oldest) || !(Version{20, 2}).Before(Oldest) {
		t.Error("versions are not in order")
	}
}

func TestAPartitionBoundsTheWidthOfAJob(t *testing.T) {
	nodes := []NodeRow{{Name: "a", CPUs: 4}, {Name: "b", CPUs: 16}, {Name: "c", CPUs: 8}}
	for limits, want := range map[string]int32{
		"MaxNodes=UNLIMITED MaxCPUsPerNode=UNLIMITED": 28,
		"MaxNodes=2 MaxCPUsPerNode=UNLIMITED":         24, // the two largest
		"MaxNodes=9 MaxCPUsPerNode=6":                 16,
		"MaxNodes=1 MaxCPUsPerNode=10":                10,
		"MaxNodes=2":                                  24, // as older versions have it
	} {
		parts, err := parsePartitions("PartitionName=p State=UP MaxTime=UNLIMITED TotalCPUs=28 TotalNodes=3 " + limits + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := parts[0].widest(nodes); got != want {
			t.Errorf("%s: %d, want %d", limits, got, want)
		}
	}
}

// One job's name has a newline: half of it is no line, the other half nobody's.
func TestCompletedJobsAreFoundByName(t *testing.T) {
	got, err := Completed(filepath.Join("testdata", "jobcomp-22.05.txt"), map[string]bool{"seven": true, "sig": true, "to": true, "me": true, "nobody": true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got["seven"].Code != 7 || got["sig"].Signal != "SIGKILL" || got["to"].State != "TIMEOUT" {
		t.Errorf("%+v", got)
	}
}

func TestAccountingIsRead(t *testing.T) {
	got, err := parseAccounted(read(t, "sacct-documented.txt")+"half a line\n", "~m~")
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, e := range got {
		states = append(states, e.State)
	}
	if want := []string{"COMPLETED", "OUT_OF_MEMORY", "CANCELLED", "TIMEOUT", "RUNNING"}; !slices.Equal(states, want) || got[2].NodeList != "" || got[4].Over() {
		t.Errorf("%+v", got)
	}
}

func TestLengthsOfTimeAndCountsAreReadInAllTheirForms(t *testing.T) {
	for text, want := range map[string]batch.Duration{
		"0:01": batch.Second, "5:00": 5 * batch.Minute, "1:00:00": batch.Hour, "1-01:00:00": 25 * batch.Hour, "UNLIMITED": batch.Forever,
		"INVALID": 0, "x": -1, "1-2": -1, "1:2:3:4": -1, "-1:00": -1, "5": -1,
	} {
		if got, ok := parseSpan(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for text, want := range map[string]int32{"7": 7, "2K": 2048, "1.5K": 1536, "1M": 1 << 20, "": -1, "-1": -1, "K": -1, "9999999999": -1} {
		if got, ok := parseCount(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for text, want := range map[string]int{"12": 1, "12_3": 1, "12_[4-9]": 6, "12_[1-5%2]": 5, "12_[1,3,7-9]": 5, "12_[0-10:5]": 3, "12+1": 1, "12_[1-999999999]": mostTasks, "1_[": 1} {
		if got := parseTasks(text); got != want {
			t.Errorf("%q is %d jobs, want %d", text, got, want)
		}
	}
	for d, want := range map[batch.Duration]int64{1: 1, batch.Minute: 1, batch.Minute + 1: 2, 90 * batch.Second: 2} {
		if got := Minutes(d); got != want {
			t.Errorf("%v is %d minutes, want %d", d, got, want)
		}
	}
}

// The texts are those of slurm_errno.c, as its programs print them.
func TestSilenceIsNotTakenForARefusal(t *testing.T) {
	for notes, want := range map[string]string{
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)":                                                                         "unreachable",
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":                                                                                      "maybe done",
		"squeue: error: fetch_config: DNS SRV lookup failed\nsqueue: fatal: Could not establish a configuration source":                                                            "unreachable",
		"sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified":                                           "refused",
		"sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)": "again",
		"slurm_load_jobs error: Zero Bytes were transmitted or received":                                                                                                           "maybe done",
		"sbatch: error: Batch job submission failed: More processors requested than permitted":                                                                                     "refused",
		"": "refused",
	} {
		err := failure("sbatch", 1, notes)
		got := "unreachable"
		if maybeDone(err) {
			got = "maybe done"
		} else if r, ok := err.(*RefusedError); ok { //nolint:errorlint // it is not wrapped
			if got = "refused"; r.Again {
				got = "again"
			}
		}
		if got != want {
			t.Errorf("%q is %s, want %s", notes, got, want)
		}
	}
	if got := reason("sbatch: error: one\nsbatch: error: Batch job submission failed: two\n"); got != "Batch job submission failed: two" {
		t.Errorf("reason %q", got)
	}
}

func TestWhatOwnersAreCalledDoesNotReachOtherFields(t *testing.T) {
	k := batch.Key{Job: id, Epoch: 2, Attempt: 3}
	text := comment("a", k, "eve:1 --wrap=x\n\"'"+strings.Repeat("x", 100))
	if got, ok := identify("a", "", text); !ok || got != k || strings.ContainsAny(text, " \n'\"") || len(text) > 200 {
		t.Errorf("%q is %v, %v", text, got, ok)
	}
	if got, ok := identify("a", Name(k), ""); !ok || got != k {
		t.Errorf("name %q is %v, %v", Name(k), got, ok)
	}
}

func TestAnswersOfSbatch(t *testing.T) {
	for out, want := range map[string]string{"17\n": "17", "17;cluster\n": "17", "welcome\n18\n": "18", "": "", "ok": "", "0": ""} {
		got, err := parseSubmitted(out)
		if got != want || (want == "") != maybeDone(err) {
			t.Errorf("%q: %q, %v", out, got, err)
		}
	}
}
