package process

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

func TestSignalKnowsThatTheProgramHasEnded(t *testing.T) {
	g, err := Start(Spec{Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	awaitLeader(g.cmd)
	for range 2 {
		if err := g.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
		g.Wait()
	}
}
