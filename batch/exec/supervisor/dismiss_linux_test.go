package supervisor

import (
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

func TestADismissedSupervisorEndsWithItsPrograms(t *testing.T) {
	for name, kill := range map[string]bool{"by themselves": false, "at once": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			hold, here := fifo(t, dir, "hold"), fifo(t, dir, "here")
			c := connectTo(t, dir)
			p := launch(t, c, spec(dir, key("job", 1), `echo x > "$2"; read x < "$1"; exit 2`, hold, here))
			read(t, here)
			id, err := process.Identify(supervisorPid(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			dismissed := make(chan error, 1)
			go func() { dismissed <- Dismiss(t.Context(), dir, kill) }()
			want := exec.Exit{Code: 2}
			if kill {
				want = exec.Exit{Signal: syscall.SIGKILL}
			} else if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, p.Wait()); diff != "" {
				t.Error(diff)
			}
			if err := <-dismissed; err != nil {
				t.Error(err)
			}
			if err := id.Await(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhereNoSupervisorIsNobodyIsDismissed(t *testing.T) {
	if err := Dismiss(t.Context(), t.TempDir(), true); err != nil {
		t.Error(err)
	}
}
