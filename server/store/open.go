package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/bbolt"
)

// Open opens the file or creates it. It returns a DamagedError, VersionError, SiteError
// or LockedError for a file that it refuses, and does not change that file. It copies a
// file of an older schema to PATH.vN.bak and then migrates it.
func Open(c Config) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	file, err := os.OpenFile(c.Path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(c); err != nil {
			return nil, fmt.Errorf("creating store %s: %w", c.Path, err)
		}
		file, err = os.OpenFile(c.Path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	if err := lock(file, c.Path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := check(file); err != nil {
		return nil, errors.Join(asDamaged(c.Path, err), file.Close())
	}
	s := &Store{path: c.Path, logger: c.Logger, file: file}
	if err := s.open(c.Site); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the database on the file and migrates its schema if needed.
func (s *Store) open(site string) error {
	err := s.guard(func() (err error) {
		s.db, err = openBolt(s.file)
		return err
	})
	if err != nil {
		return s.explain("opening", err)
	}
	var is found
	if err := s.view("reading about", func(tx *bbolt.Tx) (err error) {
		is, err = about(tx)
		return err
	}); err != nil {
		return asDamaged(s.path, err)
	}
	switch {
	case is.schema > Version:
		return &VersionError{Path: s.path, Found: is.schema, Known: Version}
	case is.site != site:
		return &SiteError{Path: s.path, Found: is.site, Want: site}
	case is.schema < Version:
		return s.upgrade(is.schema)
	}
	return s.view("opening", func(tx *bbolt.Tx) error {
		if _, err := in(tx); err != nil {
			return asDamaged(s.path, err)
		}
		return nil
	})
}

// upgrade copies the file and then migrates it.
func (s *Store) upgrade(from int) error {
	backup := fmt.Sprintf("%s.v%d.bak", s.path, from)
	if err := copyFile(s.file, backup); err != nil {
		return fmt.Errorf("copying store %s before its migration: %w", s.path, err)
	}
	s.logger.Info("migrating store", "path", s.path, "from", from, "to", Version, "backup", backup)
	return s.update("migrating", func(tx *bbolt.Tx) error {
		if err := migrate(tx, from); err != nil {
			return asDamaged(s.path, err)
		}
		return nil
	})
}

// Limits of one record. A UUID has 36 bytes. A cold record is a request, and the RPC
// layer limits its arguments far below LargestRecord.
const (
	LargestID     = 255      // bytes of an ID or a meta key; at least 1
	LargestRecord = 16 << 20 // bytes
)

// Config configures a store.
type Config struct {
	Path   string // created if it does not exist; its directory must exist
	Site   string // name of the site; an existing file must have the same
	Logger hclog.Logger
}

// Validate returns all problems at once.
func (c Config) Validate() error {
	var problems []error
	if c.Path == "" {
		problems = append(problems, errors.New("path of the store is empty"))
	}
	if c.Site == "" {
		problems = append(problems, errors.New("site of the store is empty"))
	}
	return errors.Join(problems...)
}

const (
	// pageSize is fixed, so that a file costs the same on machines with larger pages.
	// Commits rewrite whole pages, so larger pages write more.
	pageSize = 4096
	// mapSize reserves address space, not memory or file size. A commit that must grow
	// the mapping waits for all readers and breaks the store if that fails.
	mapSize = 1 << 30
	// allocSize is the step by which the file grows. Growing costs a sync. The new part
	// is a hole: it uses no disk space until it is written.
	allocSize = 16 << 20
	// fill is the fraction of a page that stays used after a split. IDs are UUIDv7 and
	// increase, so new records go at the end and half-empty pages before it would stay
	// half-empty. The remaining tenth is for records that grow a little.
	fill = 0.9
)

// options returns bbolt's options except the file.
//
// Each commit writes the list of free pages, 8 bytes a page. After nine tenths of 100,000
// jobs are gone, that is two thirds of the bytes of a commit of 32 records. Without the
// list (NoFreelistSync), Open walks the file a second time to find the free pages, which
// doubles its time. So does every failed commit, and there an unreadable page would crash
// the process, because bbolt walks in another goroutine. The hash map finds free pages at
// once; the default, an array, is searched from its beginning.
func options() *bbolt.Options {
	return &bbolt.Options{
		PageSize:        pageSize,
		InitialMmapSize: mapSize,
		FreelistType:    bbolt.FreelistMapType,
	}
}

// create makes a store under a temporary name and links it to its path when it is
// complete. An empty or incomplete file at the path is therefore always damage. If several
// processes create the store, the first link wins and the others open that file.
func create(c Config) error {
	file, err := os.CreateTemp(filepath.Dir(c.Path), filepath.Base(c.Path)+".new-*")
	if err != nil {
		return err
	}
	name := file.Name()
	defer os.Remove(name) //nolint:errcheck // a leftover file is harmless
	if err := layFile(file, c.Site); err != nil {
		return asRoom(c.Path, err)
	}
	if err := os.Link(name, c.Path); err != nil && !errors.Is(err, fs.ErrExist) {
		return asRoom(c.Path, err)
	}
	return syncDir(filepath.Dir(c.Path))
}

// layFile writes an empty store to an empty file and closes it.
func layFile(file *os.File, site string) error {
	db, err := openBolt(file)
	if err != nil {
		return errors.Join(err, release(file))
	}
	err = db.Update(func(tx *bbolt.Tx) error { return lay(tx, site) })
	return errors.Join(err, db.Close())
}

// openBolt opens a database on an open file. The database closes the file.
func openBolt(file *os.File) (*bbolt.DB, error) {
	o := options()
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return file, nil }
	db, err := bbolt.Open(file.Name(), 0, o)
	if err != nil {
		return nil, err
	}
	db.AllocSize = allocSize
	return db, nil
}

// copyFile copies an open file to a path, completely or not at all.
func copyFile(from *os.File, to string) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	dir := filepath.Dir(to)
	file, err := os.CreateTemp(dir, filepath.Base(to)+".new-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.NewSectionReader(from, 0, info.Size()))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncDir(dir)
}

// syncDir makes the entries of a directory durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
