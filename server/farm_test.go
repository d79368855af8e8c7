package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// farmYAML is a site of two machines, the first twice as fast, with one copy of each of
// two licenses. A service writes its process ID beside a file and ends when the file exists.
const farmYAML = `nodes: [{name: new, processors: 1, score: 200}, {name: old, processors: 1, score: 100}]
licenses: [{name: cad, copies: 1}, {name: mesh, copies: 1}]
policy: {name: convergent, settings: {algorithm: ALGORITHM}}
grace: 1s
services:
  inline:
    - name: draw
      doc: Waits for a file; needs cad.
      args: [{name: file, type: string}]
      command: [sh, -c, 'echo $$ > "$0.pid"; until [ -e "$0" ]; do sleep 0.02; done', "{file}"]
      licenses: [cad]
      score: 200
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 600s}}
    - name: quick
      doc: The same with a shorter estimate; needs the licenses of the request.
      args: [{name: file, type: string}]
      command: [sh, -c, 'echo $$ > "$0.pid"; until [ -e "$0" ]; do sleep 0.02; done', "{file}"]
      score: 200
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 30s}}
    - name: saves
      doc: Makes a checkpoint at once at SIGUSR1.
      args: [{name: file, type: string}]
      command: [sh, -c, 'trap "exit 85" USR1; echo $$ > "$0.pid"; until [ -e "$0" ]; do sleep 0.02; done', "{file}"]
      checkpoint: {signal: USR1, grace: 10s}
      licenses: [cad]
      score: 200
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 600s}}
`

// farm starts that site.
func farm(t *testing.T, algorithm string) *testSite {
	t.Helper()
	cfg, err := ParseConfig(
		[]byte(fmt.Sprintf("version: 1\nname: farm\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\ndata_dir: %s\n"+
			"on_stop: end\n%s",
			t.TempDir(), strings.Replace(farmYAML, "ALGORITHM", algorithm, 1))), "")
	if err != nil {
		t.Fatal(err)
	}
	return start(t, cfg)
}

// farmJob is a job that ends when the test creates its file.
type farmJob struct {
	s    *testSite
	id   string
	file string
}

// begin submits a job and waits until its program runs.
func (s *testSite) begin(t *testing.T, service string, within time.Duration, licenses ...string) *farmJob {
	t.Helper()
	j := s.queue(t, service, within, licenses...)
	j.s.until(t, j.id, running)
	j.process(t)
	return j
}

// queue submits a job.
func (s *testSite) queue(t *testing.T, service string, within time.Duration, licenses ...string) *farmJob {
	t.Helper()
	j := &farmJob{s: s, file: filepath.Join(t.TempDir(), "end")}
	r := &droverv1.Request{Service: service, Arguments: arguments{"file": text(j.file)}}
	if within > 0 {
		r.Deadline = timestamppb.New(time.Now().Add(within))
	}
	for _, l := range licenses {
		r.Licenses = append(r.Licenses, &droverv1.License{Name: l, Copies: 1})
	}
	if service == "quick" {
		r.Retries = 1
	}
	j.id = s.submit(t, r).GetId()
	return j
}

// process waits for the job's program and returns its process ID.
func (j *farmJob) process(t *testing.T) int {
	t.Helper()
	var pid int
	eventually(t, "job "+j.id+" has a process", func() bool {
		data, _ := os.ReadFile(j.file + ".pid")
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid > 0
	})
	return pid
}

// stopped reports whether the job's program is stopped.
func (j *farmJob) stopped(t *testing.T) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", j.process(t)))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

// tell lets the job's program end as soon as it runs.
func (j *farmJob) tell(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(j.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// end waits for the end of the job's program.
func (j *farmJob) end(t *testing.T) *droverv1.Job {
	t.Helper()
	j.tell(t)
	return j.s.until(t, j.id, done)
}

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 3000 {
		if is() {
			return
		}
		<-ticker.C
	}
	t.Fatalf("not within 30 s: %s", what)
}

// A job without a deadline holds the only copy of cad. It is paused for an urgent job,
// which meets its deadline although the first job's estimate is ten minutes. The first job
// resumes afterwards. A job with the other license is not affected.
func TestJobWithACloseDeadlineTakesALicense(t *testing.T) {
	for _, algorithm := range []string{"EDF", "EDF, anew: true"} {
		t.Run(algorithm, func(t *testing.T) {
			s := farm(t, algorithm)
			slow := s.begin(t, "draw", 0)
			other := s.begin(t, "quick", 0, "mesh")
			urgent := s.begin(t, "quick", 40*time.Second, "cad")
			// a signal takes a moment to arrive
			eventually(t, "the job is stopped", func() bool { return slow.stopped(t) })
			if other.stopped(t) || urgent.stopped(t) {
				t.Errorf("stopped: job with the other license %v, urgent job %v", other.stopped(t), urgent.stopped(t))
			}
			if j := urgent.end(t); !slices.Equal(j.GetNodes(), []string{"new"}) ||
				j.GetEndedAt().AsTime().After(j.GetRequest().GetDeadline().AsTime()) {
				t.Errorf("the urgent job ran on %v until %v", j.GetNodes(), j.GetEndedAt().AsTime())
			}
			eventually(t, "the job resumes", func() bool { return !slow.stopped(t) })
			slow.end(t)
			other.end(t)
		})
	}
}

// A checkpointed job frees the memory of its machine and resumes on any machine.
func TestCheckpointedJobIsPreemptedOnAFarm(t *testing.T) {
	s := farm(t, "EDF")
	saved := s.begin(t, "saves", 0)
	first := saved.process(t)
	urgent := s.begin(t, "quick", 40*time.Second, "cad")
	eventually(t, "it waits", func() bool {
		j, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: saved.id})
		return err == nil && j.GetJob().GetState() == waiting && j.GetJob().GetCheckpoints() == 1
	})
	urgent.end(t)
	eventually(t, "another process", func() bool { return saved.process(t) != first })
	if j := saved.end(t); j.GetAttempt() != 2 {
		t.Errorf("%v", j)
	}
}

// The machine takes the process with it, like a host that loses power. The request allows
// one retry, which runs on the other machine. The first machine gets the next job when it
// is back.
func TestDrainedMachineLeavesWithItsJob(t *testing.T) {
	s := farm(t, "CS_ip")
	nodes, is := s.system.(*exec.System)
	if !is {
		t.Fatalf("%T", s.system)
	}
	j := s.begin(t, "quick", 0, "mesh")
	pid := j.process(t)
	if err := nodes.SetNode(within(t), 0, false); err != nil {
		t.Fatal(err)
	}
	waits := s.queue(t, "quick", 0, "mesh") // its license stays taken until the first job's end is known
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another process", func() bool { return j.process(t) != pid || fileThere(waits.file+".pid") })
	if err := nodes.SetNode(within(t), 0, true); err != nil {
		t.Fatal(err)
	}
	waits.tell(t)
	one, two := j.end(t), waits.end(t)
	if one.GetAttempt() != 2 || !slices.Equal(one.GetNodes(), []string{"old"}) &&
		!slices.Equal(two.GetNodes(), []string{"old"}) {
		t.Errorf("%v\n%v", one, two)
	}
}

func fileThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestFarmRefusesAgreements(t *testing.T) {
	s := farm(t, "CS_ip")
	_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: &droverv1.Request{
		Service: "quick", Arguments: arguments{"file": text("x")}, Deadline: timestamppb.New(time.Now().Add(time.Hour)),
		Agreement: &droverv1.Agreement{},
	}})
	if _, d := detail(t, err); d.GetReason() != "no-promise" {
		t.Errorf("%v", d)
	}
}

// The server is killed while one job is paused for another. The next server finds both
// running on one machine, and pauses the job without a deadline again.
func TestPreemptedFarmJobSurvivesAServerKill(t *testing.T) {
	p := newProcessSite(t, "farm", strings.Replace(farmYAML, "ALGORITHM", "EDF", 1))
	p.run()
	slow := &farmJob{file: filepath.Join(t.TempDir(), "end")}
	urgent := &farmJob{file: filepath.Join(t.TempDir(), "end")}
	request := func(j *farmJob) *droverv1.Request {
		return &droverv1.Request{
			Service: "quick", Arguments: arguments{"file": text(j.file)}, Walltime: seconds(300),
			Licenses: []*droverv1.License{{Name: "cad", Copies: 1}},
		}
	}
	slow.id = p.submit(newID(t), request(slow)).GetId()
	p.until(slow.id, running)
	hurried := request(urgent)
	hurried.Deadline = timestamppb.New(time.Now().Add(320 * time.Second))
	urgent.id = p.submit(newID(t), hurried).GetId()
	p.until(urgent.id, running)
	eventually(t, "the job is stopped", func() bool { return slow.stopped(t) })
	p.kill()
	p.run()
	p.until(urgent.id, running)
	eventually(t, "it is stopped again", func() bool { return slow.stopped(t) && !urgent.stopped(t) })
	urgent.tell(t)
	p.until(urgent.id, done)
	eventually(t, "the job resumes", func() bool { return !slow.stopped(t) })
	slow.tell(t)
	p.until(slow.id, done)
}
