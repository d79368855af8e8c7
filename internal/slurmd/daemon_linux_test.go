package slurmd

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// A goroutine that is locked to its thread ends the thread with itself.
func TestADaemonOutlivesTheThreadThatStartedIt(t *testing.T) {
	echo := exec.CommandContext(t.Context(), "cat")
	in, err := echo.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := echo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var (
		d      *daemon
		run    func()
		thread = make(chan int)
	)
	run = func() {
		runtime.LockOSThread() // and never unlocked
		if syscall.Gettid() == syscall.Getpid() {
			defer runtime.UnlockOSThread() // the first thread never ends
			done := make(chan struct{})
			go func() { defer close(done); run() }()
			<-done
			return
		}
		if d, err = start(echo); err != nil {
			t.Error(err)
		}
		thread <- syscall.Gettid()
	}
	go run()
	task := fmt.Sprintf("/proc/self/task/%d", <-thread)
	for { // until the thread has ended
		if _, err := os.Stat(task); err != nil {
			break
		}
	}
	if _, err := in.Write([]byte("alive\n")); err != nil {
		t.Error(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("the daemon answered %q: %v", said, err)
	}
	_ = in.Close()
	<-d.gone
	if !echo.ProcessState.Success() {
		t.Error(echo.ProcessState)
	}
}
