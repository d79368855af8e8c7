package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary run one of the children instead of the tests. Its
// argument is a path.
const childVariable = "DROVER_STORE_CHILD"

var children = map[string]func(path string) error{}

func TestMain(m *testing.M) {
	if child, ok := children[os.Getenv(childVariable)]; ok {
		if err := child(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// open opens a store and closes it at the end of the test.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(Config{Path: path, Site: "alpha"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "drover.db") }

func commit(t testing.TB, s *Store, fill func(*Batch)) {
	t.Helper()
	var b Batch
	fill(&b)
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
}

// alive returns the records that Load finds.
func alive(t testing.TB, s *Store) map[string]string {
	t.Helper()
	is := map[string]string{}
	if err := s.Load(func(id string, hot []byte) error {
		is[id] = string(hot)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return is
}
