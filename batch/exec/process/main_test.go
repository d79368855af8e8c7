package process

import (
	"os"
	osexec "os/exec"
	"testing"

	"go.uber.org/goleak"
)

const aloneVariable = "PROCESS_TEST_ALONE"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "gate" {
		Gate()
	}
	if os.Getenv(aloneVariable) != "" {
		os.Exit(m.Run()) // without goleak: a reaper lives as long as its process
	}
	goleak.VerifyTestMain(m)
}

// alone reports true in a process without other code that waits for children, as a reaper
// requires. Elsewhere it runs the test in such a process.
func alone(t *testing.T) bool {
	if os.Getenv(aloneVariable) != "" {
		return true
	}
	cmd := osexec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), aloneVariable+"=1", "GORACE=atexit_sleep_ms=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	return false
}

var gate = []string{"/proc/self/exe", "gate"}

func newReaper(t *testing.T) *Reaper {
	r, err := NewReaper()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sh returns a program that runs a script.
func sh(script string, args ...string) []string {
	return append([]string{"/bin/sh", "-c", script, "sh"}, args...)
}
