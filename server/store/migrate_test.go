package store

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// A fixture is created once, by the version that it belongs to. The flag is for the next
// version.
var fixture = flag.String("fixture", "", "make testdata's store of version 1 at this path")

const versionOne = "testdata/version1.db"

// layVersionOne creates a file of schema version 1: tombstones without an index.
func layVersionOne(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketHot, bucketCold, bucketTombstones, bucketMeta, bucketAbout} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		put := func(bucket []byte, key, value string) error {
			return tx.Bucket(bucket).Put([]byte(key), seal([]byte(key), nil, []byte(value)))
		}
		err := errors.Join(
			put(bucketAbout, "schema", "1"), put(bucketAbout, "site", "alpha"),
			put(bucketHot, "job-1", "hot 1"), put(bucketHot, "job-2", "hot 2"),
			put(bucketCold, "job-1", "cold 1"), put(bucketMeta, "view", "7"))
		for i := range 30 {
			id := fmt.Sprintf("gone-%02d", i)
			err = errors.Join(err, tx.Bucket(bucketTombstones).Put([]byte(id),
				sealTombstone(id, []byte("rest"), int64(100-i))))
		}
		return err
	})
	return errors.Join(err, db.Close())
}

func TestMakeFixture(t *testing.T) {
	if *fixture == "" {
		t.Skip("only with -fixture")
	}
	if err := layVersionOne(*fixture); err != nil {
		t.Fatal(err)
	}
}

func TestMigrationFromVersion1KeepsAllRecords(t *testing.T) {
	old, err := os.ReadFile(versionOne)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, old)
	s := open(t, path)
	if diff := cmp.Diff(map[string]string{"job-1": "hot 1", "job-2": "hot 2"}, alive(t, s)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	if cold, err := s.Cold("job-1"); err != nil || string(cold) != "cold 1" {
		t.Errorf("cold record: %q, %v", cold, err)
	}
	if view, err := s.Meta("view"); err != nil || string(view) != "7" {
		t.Errorf("meta: %q, %v", view, err)
	}
	if n, err := s.Expire(80, 100); err != nil || n != 10 {
		t.Errorf("expired: %d, %v", n, err)
	}
	for i := range 30 {
		rest, buried, err := s.Tombstone(fmt.Sprintf("gone-%02d", i))
		if err != nil || buried != (i < 20) || buried && string(rest) != "rest" {
			t.Errorf("tombstone %d: %q, %v, %v", i, rest, buried, err)
		}
	}
	backup, err := os.ReadFile(path + ".v1.bak")
	if err != nil || string(backup) != string(old) {
		t.Errorf("the copy is not what was there (%v)", err)
	}
	// The file now has the current version.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".v1.bak"); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if _, err := os.Stat(path + ".v1.bak"); err == nil {
		t.Error("it was migrated again")
	}
}

func TestAFailedMigrationLeavesVersion1(t *testing.T) {
	old, err := os.ReadFile(versionOne)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, []byte(strings.ReplaceAll(string(old), "rest", "best")))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := Open(Config{Path: path, Site: "alpha"}); !errors.As(err, &damaged) {
		t.Errorf("open: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v)", err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(
			setAbout(tx, keySchema, strconv.Itoa(Version+1)),
			// Only bucketAbout is the same in all versions.
			tx.DeleteBucket(bucketHot))
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	unchanged(t, path, func() {
		var newer *VersionError
		if _, err := Open(Config{Path: path, Site: "alpha"}); !errors.As(err, &newer) || newer.Found != Version+1 {
			t.Errorf("open: %v", err)
		}
	})
}

func TestEveryVersionHasAMigration(t *testing.T) {
	for v := 1; v < Version; v++ {
		if migrations[v] == nil {
			t.Errorf("none from version %d", v)
		}
	}
}
