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
	thread := make(chan int)
	var run func()
	run = func() {
		runtime.LockOSThread() // and never unlocked
		if syscall.Gettid() == syscall.Getpid() {
			defer runtime.UnlockOSThread() // the first thread never ends
			done := make(chan struct{})
			go func() { defer close(done); run() }()
			<-done
			return
		}
		if err := start(echo); err != nil {
			t.Error(err)
		}
		thread <- syscall.Gettid()
	}
	go run()
	task := fmt.Sprintf("/proc/self/task/%d", <-thread)
	for err == nil { // until the thread has ended
		_, err = os.Stat(task)
	}
	if _, err := in.Write([]byte("alive\n")); err != nil {
		t.Error(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("the daemon answered %q: %v", said, err)
	}
	_ = in.Close()
	if err := echo.Wait(); err != nil {
		t.Error(err)
	}
}
