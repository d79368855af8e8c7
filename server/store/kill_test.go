package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// killedIDs is the number of IDs in each batch of the killed child.
const killedIDs = 8

func init() { children["write"] = writeForEver }

// writeForEver commits batch after batch and prints the number of each after Commit
// returns. It continues after the last batch of a killed predecessor.
func writeForEver(path string) error {
	s, err := Open(Config{Path: path, Site: "alpha"})
	if err != nil {
		return err
	}
	last, err := lastBatch(s)
	if err != nil {
		return err
	}
	for n := last + 1; ; n++ {
		var b Batch
		content := []byte(strconv.Itoa(n))
		b.SetMeta("last", content)
		for i := range killedIDs {
			id := fmt.Sprintf("job-%d", i)
			b.Put(id, content)
			b.PutCold(id, append(content, make([]byte, n%5*3000)...))
		}
		b.Bury(fmt.Sprintf("gone-%09d", n), content, int64(n))
		b.Delete(fmt.Sprintf("gone-%09d", n-20))
		if err := s.Commit(&b); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func lastBatch(s *Store) (int, error) {
	last, err := s.Meta("last")
	if err != nil {
		return 0, nil //nolint:nilerr // no batch was committed yet
	}
	return strconv.Atoi(string(last))
}

func TestAcknowledgedCommitsSurviveAKill(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	path := newPath(t)
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := 0
	for range rounds {
		// Some children are killed while they create or open the file.
		patience := time.Duration(random.IntN(60_000)) * time.Microsecond
		if said := killed(t, path, patience); said > 0 {
			acknowledged = said
		}
		if _, err := os.Stat(path); err != nil && acknowledged == 0 {
			continue
		}
		s, err := Open(Config{Path: path, Site: "alpha"})
		if err != nil {
			t.Fatal(err)
		}
		whole(t, s, acknowledged)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if acknowledged < rounds {
		t.Errorf("only %d batches in %d rounds", acknowledged, rounds)
	}
	t.Logf("%d batches, %d kills", acknowledged, rounds)
}

// killed starts the child, kills it after patience, and returns the last batch that it
// printed, or 0.
func killed(t *testing.T, path string, patience time.Duration) int {
	t.Helper()
	child := exec.Command(os.Args[0], path)
	child.Env = append(os.Environ(), childVariable+"=write")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(patience, func() { _ = child.Process.Kill() })
	defer kill.Stop()
	said := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said, err = strconv.Atoi(lines.Text()); err != nil {
			t.Error(err)
		}
	}
	if err := child.Wait(); child.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child ended before it was killed: %v", err)
	}
	return said
}

// whole fails the test unless exactly one batch is stored completely, at least the
// acknowledged one.
func whole(t *testing.T, s *Store, acknowledged int) {
	t.Helper()
	last, err := lastBatch(s)
	if err != nil {
		t.Fatal(err)
	}
	if last < acknowledged {
		t.Fatalf("batch %d was acknowledged, batch %d is stored", acknowledged, last)
	}
	if last == 0 {
		return
	}
	want := strconv.Itoa(last)
	jobs := alive(t, s)
	for i := range killedIDs {
		id := fmt.Sprintf("job-%d", i)
		cold, err := s.Cold(id)
		if err != nil || jobs[id] != want || len(cold) != len(want)+last%5*3000 || string(cold[:len(want)]) != want {
			t.Errorf("batch %d has %s: %q, %d bytes, %v", last, id, jobs[id], len(cold), err)
		}
	}
	for n := max(1, last-25); n <= last+1; n++ {
		_, buried, err := s.Tombstone(fmt.Sprintf("gone-%09d", n))
		if want := n > last-20 && n <= last; err != nil || buried != want {
			t.Errorf("after batch %d, tombstone of %d: %v, %v", last, n, buried, err)
		}
	}
}
