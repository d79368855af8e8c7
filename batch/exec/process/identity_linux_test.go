package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestAProcessIsIdentifiedByMoreThanItsNumber(t *testing.T) {
	me, err := Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	other, boot := me, me
	other.Start++
	boot.Boot = "another"
	for name, c := range map[string]struct {
		id     ID
		alive  bool
		reboot bool
	}{"itself": {me, true, false}, "another start": {other, false, false}, "another boot": {boot, false, true}} {
		alive, err := c.id.Alive()
		again, err2 := c.id.Rebooted()
		if alive != c.alive || again != c.reboot || err != nil || err2 != nil {
			t.Errorf("%s: alive %v, rebooted %v, %v, %v", name, alive, again, err, err2)
		}
	}
	if _, err := Identify(1 << 30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no process: %v", err)
	}
}

func TestAwaitReturnsWithTheEndOfTheProcess(t *testing.T) {
	g, err := Start(Spec{Args: []string{"sleep", "300"}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := Identify(g.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := id.Await(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("await of a living one: %v", err)
	}
	awaited := make(chan error)
	go func() { awaited <- id.Await(t.Context()) }()
	if err := g.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-awaited; err != nil {
		t.Error(err)
	}
	g.Wait()
	if err := id.Await(t.Context()); err != nil {
		t.Errorf("await of one that has ended: %v", err)
	}
}

func TestOnlyMarkedProcessesOfAForgottenGroupAreKilled(t *testing.T) {
	g, err := Start(Spec{Args: []string{"sleep", "300"}, Env: []string{"PATH=/usr/bin:/bin", Mark + "=a"}})
	if err != nil {
		t.Fatal(err)
	}
	// Before exec, its environment is that of the test.
	id := ID{Pid: g.cmd.Process.Pid}
	for _, mark := range []string{"", "b"} {
		if left, err := id.KillMarked(mark); left || err != nil {
			t.Errorf("mark %q: %v, %v", mark, left, err)
		}
		if leaderEnded(id.Pid) {
			t.Fatalf("a process marked a was killed as one marked %q", mark)
		}
	}
	if left, err := id.KillMarked("a"); left || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	if e := g.Wait(); e.Signal != syscall.SIGKILL {
		t.Errorf("%+v", e)
	}
}

func TestAgeCountsFromTheStartOfTheProcess(t *testing.T) {
	before := time.Now()
	g, err := Start(Spec{Args: []string{"sleep", "300"}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Wait()
	defer func() { _ = g.Signal(syscall.SIGKILL) }() // it may have ended
	id, err := Identify(g.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	const tick = time.Second / ticks
	age, err := id.Age()
	if most := time.Since(before) + tick; err != nil || age < 0 || age > most {
		t.Errorf("age %v of at most %v, %v", age, most, err)
	}
	id.Start -= 3600 * ticks
	if older, err := id.Age(); err != nil || older < age+time.Hour || older > age+time.Hour+time.Minute {
		t.Errorf("an hour older: %v after %v, %v", older, age, err)
	}
	id.Boot = "another"
	if _, err := id.Age(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another boot: %v", err)
	}
}
